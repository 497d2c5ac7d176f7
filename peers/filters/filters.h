/* Peers of correlate on a GPU: NPP and cuDNN, found when the command runs. Their rows stand in the
 * table of peers beside OpenCV's. */
#ifndef RUNG_PEERS_FILTERS_H
#define RUNG_PEERS_FILTERS_H

#include "ops/correlate/correlate.h"
#include "peers/loaded.h"

/* One kernel of odd sides with its origin in the middle, of a whole image of one channel to one of
 * the same type. */
bool peer_filters_one(const rung_task *task, char why[RUNG_REASON]);

/* The kernel's taps in the device's memory, as f32, f64 or 32-bit integers, from the first or from
 * the last on: copied at the first call with these, so that no timed one waits for them. They stay
 * until others are asked for. */
rung_status peer_filters_taps(const rung_task *task, bool from_last, void **taps);

/* npp.c. Looks, once, whether the library is there. */
extern char peer_npp_text[PEER_TEXT];
bool peer_npp_look(void);
bool peer_npp_supports(const rung_task *task, char why[RUNG_REASON]);
rung_launch peer_npp;

/* cudnn.c */
extern char peer_cudnn_text[PEER_TEXT];
bool peer_cudnn_look(void);
bool peer_cudnn_supports(const rung_task *task, char why[RUNG_REASON]);
rung_launch peer_cudnn;

#endif
