/* The keys of a case's line, as one table: it reads a line, writes a case's label and is the help.
 *
 * A table's rows stand in the order of the label, the last is all zeros. */
#ifndef RUNG_LAB_KEYS_H
#define RUNG_LAB_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lab/line.h"

typedef enum rung_key_kind {
  RUNG_KEY_INTEGER, /* the request's member is an int64_t */
  RUNG_KEY_REAL,    /* a double */
  RUNG_KEY_CHOICE   /* an int, the index among names */
} rung_key_kind;

typedef struct rung_key {
  const char *name;
  rung_key_kind kind;
  size_t at; /* where the member stands in the operation's request */
  const char *help;
  double least, most;                   /* of a number */
  const char *const *names;             /* of a choice, ended by NULL, */
  const char *const *(*names_of)(void); /* or who knows them */
  double otherwise;                     /* without the key; not checked. A value out of range
                                           stands for one that depends on other keys */
  const char *depends;                  /* what that is, for the help; NULL: `otherwise` */
  bool (*shown)(const void *request);   /* whether the label has it; NULL: always */
} rung_key;

#define RUNG_INTEGER(request, member, low, high, usual, ...)                           \
  {                                                                                    \
    .kind = RUNG_KEY_INTEGER, .at = offsetof(request, member), .least = (double)(low), \
    .most = (double)(high), .otherwise = (double)(usual), __VA_ARGS__                  \
  }
#define RUNG_REAL(request, member, low, high, usual, ...)                           \
  {                                                                                 \
    .kind = RUNG_KEY_REAL, .at = offsetof(request, member), .least = (double)(low), \
    .most = (double)(high), .otherwise = (double)(usual), __VA_ARGS__               \
  }
#define RUNG_CHOICE(request, member, usual, ...) \
  { .kind = RUNG_KEY_CHOICE, .at = offsetof(request, member), .otherwise = (usual), __VA_ARGS__ }

#ifdef __cplusplus
extern "C" {
#endif

/* Every member that a key names is written, or the line refused (see lab/line.h). */
rung_status rung_keys_read(const rung_key *keys, const char *text, void *request,
                           rung_error *error);
/* The line in full, every default written out; cut where it would not fit. */
void rung_keys_label(const rung_key *keys, const void *request, char *label, size_t room);
/* A line or more a key: name, what it takes, default, meaning. */
void rung_keys_help(const rung_key *keys, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
