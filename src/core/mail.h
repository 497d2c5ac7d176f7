/* Short messages between threads, through memory that no lock guards.
 *
 * Every rank has a few slots, which it copies what it sends to, once for all that get the same; and
 * for each other rank a line where it writes which slot that one's next messages are in. So who
 * sends waits for nobody, and who receives reads lines that change only when there is something for
 * it. Messages from a rank to another one come in the order in which they were posted.
 *
 * Nothing here waits: whoever finds no slot free, or no message there, does as it likes. A rank is
 * one thread at a time. */
#ifndef RUNG_CORE_MAIL_H
#define RUNG_CORE_MAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest message: a word of ranks with all that comes along (core/ranks.h). */
enum { RUNG_MAIL_MOST = 4096 };

typedef struct rung_mail rung_mail;

/* NULL: there is no memory. What no message has been in is never touched. */
rung_mail *rung_mail_make(int ranks);
void rung_mail_free(rung_mail *mail);

/* Copies a message, of at most RUNG_MAIL_MOST bytes, to a slot of rank `from`. Returns the slot, or
 * -1: none is free. It is free again when all have taken it whom it has been posted to. */
int rung_mail_write(rung_mail *mail, int from, const void *data, size_t bytes);

/* What the slot has is the next message for `to`. At least once after rung_mail_write(), at most
 * once for each rank. */
void rung_mail_post(rung_mail *mail, int from, int to, int slot);

/* The first message from a rank that `me` has not taken; NULL: there is none yet. */
const void *rung_mail_find(const rung_mail *mail, int me, int from, size_t *bytes);
void rung_mail_take(rung_mail *mail, int me, int from);

#endif
