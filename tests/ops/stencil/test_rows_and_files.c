/* Every operation's ladder against its folder: a file a row, a row a file. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ladder.h"
#include "lab/case.h"

enum { PATH = 4096 };
static char ops[PATH]; /* src/ops of this source tree */

static const char *folder(rung_family family) {
  return family == RUNG_ON_CPU ? "cpu" : "cuda";
}

static void rows_have_files(void **unused) {
  (void)unused;
  int rows = 0;
  for (const rung_operation *const *op = rung_operations; *op != NULL; op++)
    for (int i = 0; i < (*op)->count; i++, rows++) {
      const rung_row *row = &(*op)->rows[i];
      char path[2 * PATH];
      snprintf(path, sizeof path, "%s/%s/%s/%s.%s", ops, (*op)->name, folder(row->family),
               row->name, row->family == RUNG_ON_CPU ? "c" : "cu");
      FILE *file = fopen(path, "r");
      if (file == NULL) fail_msg("rung %s of %s has no file %s", row->name, (*op)->name, path);
      fclose(file);
    }
  assert_true(rows > 10);
}

static bool has_row(const rung_operation *op, rung_family family, const char *name, size_t length) {
  for (int i = 0; i < op->count; i++)
    if (op->rows[i].family == family && strlen(op->rows[i].name) == length &&
        memcmp(op->rows[i].name, name, length) == 0)
      return true;
  return false;
}

static void files_have_rows(void **unused) {
  (void)unused;
  int files = 0;
  for (const rung_operation *const *op = rung_operations; *op != NULL; op++)
    for (int family = RUNG_ON_CPU; family <= RUNG_ON_GPU; family++) {
      char path[2 * PATH];
      snprintf(path, sizeof path, "%s/%s/%s", ops, (*op)->name, folder((rung_family)family));
      DIR *directory = opendir(path);
      if (directory == NULL) fail_msg("there is no folder %s", path);
      for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, family == RUNG_ON_CPU ? ".c" : ".cu") != 0) continue;
        files++;
        if (!has_row(*op, (rung_family)family, entry->d_name, (size_t)(dot - entry->d_name)))
          fail_msg("%s/%s is no row of the ladder of %s", path, entry->d_name, (*op)->name);
      }
      closedir(directory);
    }
  assert_true(files > 10);
}

/* Every folder of src/ops is an operation, so that no room is overlooked. */
static void folders_are_operations(void **unused) {
  (void)unused;
  DIR *directory = opendir(ops);
  assert_non_null(directory);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (strchr(entry->d_name, '.') != NULL) continue;
    if (rung_operation_named(entry->d_name) == NULL)
      fail_msg("src/ops/%s is no operation of rung_operations[]", entry->d_name);
  }
  closedir(directory);
}

static void rows_say_what_they_are(void **unused) {
  (void)unused;
  for (const rung_operation *const *op = rung_operations; *op != NULL; op++) {
    const rung_row *last[2] = {NULL, NULL};
    assert_true((*op)->count > 0 && strlen((*op)->summary) > 10);
    assert_non_null(rung_cases_of(*op));
    for (int i = 0; i < (*op)->count; i++) {
      const rung_row *row = &(*op)->rows[i];
      if (strlen(row->idea) < 10 || strchr(row->idea, '\n') != NULL)
        fail_msg("rung %s of %s has no idea", row->name, (*op)->name);
      assert_true(row->types.in != 0);
      assert_true(row->family == RUNG_ON_CPU || row->capability >= 75);
      /* The fallback of every CPU; a GPU's rungs may not be in this build. */
      if (row->family == RUNG_ON_CPU) assert_non_null(row->launch[RUNG_BASELINE]);
      if (row->family == RUNG_ON_CPU) assert_null(row->blocks);
      for (int k = 0; row->blocks != NULL && row->blocks[k] != 0; k++)
        assert_true(row->blocks[k] >= 1 && row->blocks[k] <= 1024);
      for (int k = 0; k < i; k++)
        if (strcmp((*op)->rows[k].name, row->name) == 0 && (*op)->rows[k].family == row->family)
          fail_msg("%s has two rungs %s", (*op)->name, row->name);
      if (row->order != RUNG_LOOSE) last[row->family] = row;
    }
    /* What `auto` takes in strict mode keeps the contract's bits. */
    for (int family = 0; family < 2; family++) {
      assert_non_null(last[family]);
      if (last[family]->order != RUNG_CANONICAL)
        fail_msg("the last rung of %s, %s, is not canonical", (*op)->name, last[family]->name);
    }
  }
}

/* From this file's own path, tests/ops/stencil/...: the tree it was compiled from. */
static int find_tree(void **unused) {
  (void)unused;
  const char *at = strstr(__FILE__, "tests/ops/stencil/");
  for (const char *next = at; next != NULL; next = strstr(at + 1, "tests/ops/stencil/")) at = next;
  if (at == NULL) return -1;
  snprintf(ops, sizeof ops, "%.*ssrc/ops", (int)(at - __FILE__), __FILE__);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_have_files),
      cmocka_unit_test(files_have_rows),
      cmocka_unit_test(folders_are_operations),
      cmocka_unit_test(rows_say_what_they_are),
  };
  return cmocka_run_group_tests(tests, find_tree, NULL);
}
