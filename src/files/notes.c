#include "files/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rung_status no_memory(rung_error *error) {
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for an image's texts and profile");
}

rung_status notes_add_text(file_notes *notes, const file_text *text, rung_error *error) {
  const char *const from[] = {text->key, text->text, text->language, text->translated};
  size_t size[4], all = 0;
  for (int i = 0; i < 4; i++) all += size[i] = from[i] ? strlen(from[i]) + 1 : 1;
  file_text *texts = realloc(notes->texts, ((size_t)notes->count + 1) * sizeof *texts);
  if (!texts) return no_memory(error);
  notes->texts = texts;
  char *at = malloc(all);
  if (!at) return no_memory(error);
  file_text *to = &texts[notes->count++];
  char **const parts[] = {&to->key, &to->text, &to->language, &to->translated};
  to->kind = text->kind;
  for (int i = 0; i < 4; at += size[i++]) *parts[i] = memcpy(at, from[i] ? from[i] : "", size[i]);
  return RUNG_OK;
}

rung_status notes_set_profile(file_notes *notes, const char *name, const void *profile,
                              uint32_t bytes, rung_error *error) {
  free(notes->profile);
  notes->profile = malloc(bytes > 0 ? bytes : 1);
  if (!notes->profile) return no_memory(error);
  memcpy(notes->profile, profile, bytes);
  notes->profile_bytes = bytes;
  snprintf(notes->profile_name, sizeof notes->profile_name, "%s", name);
  return RUNG_OK;
}

void notes_free(file_notes *notes) {
  for (int i = 0; i < notes->count; i++) free(notes->texts[i].key);
  free(notes->texts);
  free(notes->profile);
  *notes = (file_notes){0};
}
