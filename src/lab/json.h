/* JSON where memory may run out at any moment. Jansson's json_pack() frees twice what it could not
 * add, and its json_dumps() leaves out keys: these take their places. */
#ifndef RUNG_LAB_JSON_H
#define RUNG_LAB_JSON_H

#include <jansson.h>

/* An object, as json_pack("{s:X, ...}", key, value, ...) makes it of pairs: X is s (a string; s?
 * may be NULL), i, I, f, b, o (taken) or O. NULL: memory ran out, or what o was given is NULL. */
json_t *lab_object(const char *format, ...);

/* A copy of an object, whose values are shared; NULL: memory ran out, or there is no object.
 * (json_copy() leaves out what it has no memory for.) */
json_t *lab_copy(const json_t *object);

/* Text; where it is not UTF-8, every byte above 0x7e as \xNN. NULL: memory ran out. */
json_t *lab_text(const char *text);

/* All of the text, to be freed; NULL: memory ran out, json is NULL, or no JSON can hold it. */
char *lab_json_text(const json_t *json, size_t flags);

#endif
