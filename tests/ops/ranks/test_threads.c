/* Ranks within one process: lists of devices, and what ends those that wait. */
#include <stdatomic.h>
#include <stdio.h>

#include "core/context.h"
#include "ops/outside.h"
#include "rung/ranks.h"

enum { COUNT = 100003, RANKS = 3 };

static float data[COUNT];
static rung_context *contexts[RUNG_DEVICES];
static int opened;
static float sums[RANKS];
static char sentences[RANKS][RUNG_TEXT];

static int open_three(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) data[i] = (float)(i % 1000) / 7;
  return rung_open_devices(contexts, &opened, "cpu,cpu,cpu", NULL) != RUNG_OK;
}

static int close_three(void **state) {
  (void)state;
  for (int r = 0; r < opened; r++) rung_close(contexts[r]);
  return 0;
}

static rung_status sum_once(rung_context *context, const rung_ranks *ranks) {
  const int64_t first = (int64_t)COUNT * ranks->rank / ranks->count;
  int64_t count = (int64_t)COUNT * (ranks->rank + 1) / ranks->count - first;
  DLTensor part = rung_array_f32(data + first, &count), out = rung_number_f32(&sums[ranks->rank]);
  const rung_status status = rung_reduce_ranks(context, ranks, RUNG_SUM, &part, &out, NULL);
  strcpy(sentences[ranks->rank], rung_last_error(context));
  return status;
}

/* Each makes so many calls. */
static rung_status sum(rung_context *context, const rung_ranks *ranks, void *calls) {
  rung_status status = RUNG_OK;
  for (int k = 0; k < ((const int *)calls)[ranks->rank] && status == RUNG_OK; k++)
    status = sum_once(context, ranks);
  return status;
}

static void ranks_of_a_process_have_the_bits_of_one(void **state) {
  (void)state;
  int64_t count = COUNT;
  float whole;
  int calls[RANKS] = {5, 5, 5};
  DLTensor in = rung_array_f32(data, &count), out = rung_number_f32(&whole);
  assert_int_equal(rung_reduce(contexts[0], RUNG_SUM, &in, RUNG_ALL, &out, NULL), RUNG_OK);
  for (int ranks = 1; ranks <= RANKS; ranks++) {
    memset(sums, 0, sizeof sums);
    assert_int_equal(rung_run_ranks(contexts, ranks, 0, sum, calls), RUNG_OK);
    for (int r = 0; r < ranks; r++) assert_memory_equal(&sums[r], &whole, sizeof whole);
  }
}

/* Others do not wait for it; nor is it an error where nobody does. */
static void a_rank_that_has_ended_is_named(void **state) {
  (void)state;
  for (int r = 0; r < RANKS; r++) {
    char text[32];
    int calls[RANKS] = {2, 2, 2};
    calls[r] = 1;
    snprintf(text, sizeof text, "rank %d has ended", r);
    assert_int_equal(rung_run_ranks(contexts, RANKS, 1e9, sum, calls), RUNG_RANKS_FAILED);
    for (int k = 0; k < RANKS; k++)
      if (k != r && strstr(sentences[k], text) == NULL)
        fail_msg("rank %d: \"%s\"; expected: %s", k, sentences[k], text);
  }
}

static rung_status cross(rung_context *context, const rung_ranks *ranks, void *user) {
  char bytes[2] = {(char)ranks->rank, 77}, why[RUNG_TEXT] = "";
  const int next = (ranks->rank + 1) % ranks->count;
  rung_parcel from = {next, &bytes[1], 1, 0};
  (void)context;
  const int failed = ranks->exchange(ranks->state, NULL, 0, &from, 1, why);
  memcpy((char *)user + (size_t)ranks->rank * RUNG_TEXT, why, RUNG_TEXT);
  return failed && bytes[1] == 77 && from.moved == 0 ? RUNG_RANKS_FAILED : RUNG_OK;
}

/* All wait for bytes that nobody sends. */
static void the_deadline_ends_those_that_wait_for_each_other(void **state) {
  (void)state;
  static char why[RANKS][RUNG_TEXT];
  assert_int_equal(rung_run_ranks(contexts, RANKS, 0.02, cross, why), RUNG_RANKS_FAILED);
  for (int r = 0; r < RANKS; r++) assert_string_equal(why[r], "nothing has moved for 0.02 s");
}

static rung_status around(rung_context *context, const rung_ranks *ranks, void *user) {
  enum { ROUNDS = 300, MOST = 5000 };
  const int me = ranks->rank, next = (me + 1) % ranks->count;
  const int last = (me + ranks->count - 1) % ranks->count;
  char sent[MOST], got[MOST + 1], why[RUNG_TEXT] = "";
  (void)context;
  (void)user;
  for (int k = 0; k < ROUNDS; k++) {
    const size_t bytes = 1 + (size_t)(k * 37 % MOST), room = bytes + (size_t)(k % 2);
    for (size_t i = 0; i < bytes; i++) sent[i] = (char)(me * 31 + k + (int)i);
    memset(got, 0x5a, sizeof got);
    rung_parcel to = {next, sent, bytes, 0}, from = {last, got, room, 0};
    if (ranks->exchange(ranks->state, &to, 1, &from, 1, why) != 0) return RUNG_RANKS_FAILED;
    if (to.moved != bytes || from.moved != bytes || got[bytes] != 0x5a) return RUNG_CHECK_FAILED;
    for (size_t i = 0; i < bytes; i++)
      if (got[i] != (char)(last * 31 + k + (int)i)) return RUNG_CHECK_FAILED;
  }
  return RUNG_OK;
}

static void bytes_come_as_they_were_sent(void **state) {
  (void)state;
  rung_context *none[64] = {NULL};
  for (int ranks = 2; ranks <= 64; ranks *= 2)
    assert_int_equal(rung_run_ranks(none, ranks, 0, around, NULL), RUNG_OK);
}

static rung_status second_fails(rung_context *context, const rung_ranks *ranks, void *user) {
  (void)context;
  (void)user;
  return ranks->rank == 1 ? RUNG_BAD_SHAPE : ranks->rank == 2 ? RUNG_BAD_DTYPE : RUNG_OK;
}

static void what_is_no_run_is_refused(void **state) {
  (void)state;
  assert_int_equal(rung_run_ranks(contexts, RANKS, 0, second_fails, NULL), RUNG_BAD_SHAPE);
  assert_int_equal(rung_run_ranks(contexts, 0, 0, second_fails, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_run_ranks(contexts, 1025, 0, second_fails, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_run_ranks(NULL, 1, 0, second_fails, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_run_ranks(contexts, 1, 0, NULL, NULL), RUNG_BAD_ARGUMENT);
}

/* ---- lists -------------------------------------------------------------------------------------
 */

static void refuse(const char *devices, const rung_options *options, rung_status wanted,
                   const char *part) {
  rung_context *made[RUNG_DEVICES];
  int count = 77;
  const rung_status status = rung_open_devices(made, &count, devices, options);
  assert_int_equal(count, 1);
  if (status != wanted || strstr(rung_last_error(made[0]), part) == NULL)
    fail_msg("%s: %d \"%s\"; expected: %s", devices, (int)status, rung_last_error(made[0]), part);
  rung_close(made[0]);
}

static void lists_that_are_none_are_refused(void **state) {
  (void)state;
  char many[5 * 65 + 1] = "", longer[5000];
  int count;
  for (int i = 0; i < 65; i++) strcat(many, i == 0 ? "cpu" : ",cpu");
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  refuse(NULL, NULL, RUNG_BAD_ARGUMENT, "devices is \"NULL\"; expected: names of devices");
  refuse("", NULL, RUNG_UNKNOWN_NAME, "device is \"\"; expected: \"auto\"");
  refuse("cpu,,cpu", NULL, RUNG_UNKNOWN_NAME, "device is \"\"; expected: \"auto\"");
  refuse("cpu,cpu,", NULL, RUNG_UNKNOWN_NAME, "device is \"\"; expected: \"auto\"");
  refuse("cpu,gpu", NULL, RUNG_UNKNOWN_NAME, "device is \"gpu\"; expected: \"auto\"");
  refuse("all,cpu", NULL, RUNG_UNKNOWN_NAME, "device is \"all\"; expected: \"auto\"");
  refuse(many, NULL, RUNG_BAD_ARGUMENT, "expected: at most 64 names");
  refuse(longer, NULL, RUNG_BAD_ARGUMENT, "expected: names of devices");
  refuse("cpu", &(rung_options){.device = "cpu"}, RUNG_BAD_ARGUMENT, "options without a device");
  refuse("cpu,cpu", &(rung_options){.threads = -1}, RUNG_BAD_ARGUMENT, "threads is -1");
  refuse("cpu", &(rung_options){.size = 3}, RUNG_BAD_ARGUMENT, "options whose size is set");
  assert_int_equal(rung_open_devices(NULL, &count, "cpu", NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_open_devices(contexts, NULL, "cpu", NULL), RUNG_BAD_ARGUMENT);
}

static int threads_of(rung_context *context) {
  rung_device_info info = {.size = sizeof info};
  assert_int_equal(rung_opened(context, &info), RUNG_OK);
  return info.threads;
}

static void cpus_have_the_processors_between_them(void **state) {
  (void)state;
  rung_context *made[RUNG_DEVICES];
  int count = 0;
  assert_int_equal(rung_open_devices(made, &count, "cpu", NULL), RUNG_OK);
  assert_int_equal(count, 1);
  const int all = threads_of(made[0]);
  rung_close(made[0]);
  assert_int_equal(threads_of(contexts[2]), all > 3 ? all / 3 : 1);
  assert_int_equal(rung_open_devices(made, &count, "cpu,cpu", &(rung_options){.threads = 5}),
                   RUNG_OK);
  assert_int_equal(count, 2);
  for (int r = 0; r < count; r++) {
    assert_int_equal(threads_of(made[r]), 5);
    rung_close(made[r]);
  }
  assert_int_equal(rung_open_devices(made, &count, "all", NULL), RUNG_OK);
  assert_true(count >= 1);
  for (int r = 0; r < count; r++) {
    rung_device_info info = {.size = sizeof info};
    assert_int_equal(rung_opened(made[r], &info), RUNG_OK);
    assert_true(strcmp(info.kind, "cuda") == 0 ? info.index == r : count == 1);
    rung_close(made[r]);
  }
}

/* ---- what lies anywhere ------------------------------------------------------------------------
 */

/* A device with memory of its own: what lies there is read and written by its copies alone, and to
 * all others has other bytes. */
enum { THERE = 4096 };
static const char veil = 0x55;
static char there[RANKS][2][THERE];
static atomic_int carried;
static bool carrying_fails;

static bool is_there(const void *at) {
  return (const char *)at >= there[0][0] && (const char *)at < there[0][0] + sizeof there;
}

static rung_status carry(rung_state *of, const rung_load *loads, int count, rung_error *error) {
  (void)of;
  if (carrying_fails) return rung_fail(error, RUNG_DEVICE_FAILED, "the link is down");
  for (int k = 0; k < count; k++) {
    const rung_load *load = &loads[k];
    const char flip = is_there(load->to) != is_there(load->from) ? veil : 0;
    for (size_t i = 0; i < load->bytes; i++)
      ((char *)load->to)[i] = (char)(((const char *)load->from)[i] ^ flip);
  }
  carried += count;
  return RUNG_OK;
}

static rung_backend apart;

/* Each to both others, and from both: ranks of a bit in *user have a device with memory of its own;
 * others, the host's. */
static rung_status to_all(rung_context *context, const rung_ranks *ranks, void *user) {
  const unsigned devices = *(const unsigned *)user;
  const int me = ranks->rank;
  char here[2][THERE], why[RUNG_TEXT] = "", *own = here[0], *all = here[1];
  const bool device = devices >> me & 1;
  const char flip = device ? veil : 0;
  const size_t bytes = THERE / RANKS;
  rung_parcel parcels[4];
  (void)context;
  if (device) {
    own = there[me][0];
    all = there[me][1];
  }
  for (size_t i = 0; i < bytes; i++) own[i] = (char)((me * 31 + (int)i) ^ flip);
  for (int k = 0; k < 2; k++) {
    const int other = (me + 1 + k) % RANKS;
    parcels[k] = (rung_parcel){other, own, bytes, 0};
    parcels[2 + k] = (rung_parcel){other, all + (size_t)other * bytes, bytes, 0};
  }
  const int failed = (device ? ranks->exchange_anywhere : ranks->exchange)(ranks->state, parcels, 2,
                                                                           parcels + 2, 2, why);
  if (failed) return strcmp(why, "the link is down") == 0 ? RUNG_RANKS_FAILED : RUNG_CHECK_FAILED;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < bytes; i++) {
      const int other = parcels[2 + k].rank;
      if (all[(size_t)other * bytes + i] != (char)((other * 31 + (int)i) ^ flip))
        return RUNG_CHECK_FAILED;
    }
  return RUNG_OK;
}

static void devices_copy_what_lies_in_their_memory(void **state) {
  (void)state;
  const rung_backend *cpu = contexts[0]->backend;
  apart = *cpu;
  apart.carry = carry;
  for (unsigned devices = 0; devices < 1u << RANKS; devices++) {
    int count = 0;
    for (int r = 0; r < RANKS; r++) {
      contexts[r]->backend = devices >> r & 1 ? &apart : cpu;
      count += devices >> r & 1;
    }
    carried = 0;
    assert_int_equal(rung_run_ranks(contexts, RANKS, 0, to_all, &devices), RUNG_OK);
    /* All but those between two CPUs. */
    assert_int_equal(carried, RANKS * (RANKS - 1) - (RANKS - count) * (RANKS - count - 1));
    carrying_fails = true;
    if (devices != 0)
      assert_int_equal(rung_run_ranks(contexts, RANKS, 0, to_all, &devices), RUNG_RANKS_FAILED);
    carrying_fails = false;
  }
  for (int r = 0; r < RANKS; r++) contexts[r]->backend = cpu;
}

/* ---- long ranges -------------------------------------------------------------------------------
 */

/* A range of tiles, and what another rank has behind it. */
enum { LONG = 1 << 18, LONGER = LONG + 12345 };
static float line[LONGER], prefixes[LONGER], scanned[LONGER];

static rung_status scan_long(rung_context *context, const rung_ranks *ranks, void *exclusive) {
  const int64_t first = ranks->rank == 0 ? 0 : LONG;
  int64_t count = ranks->rank == 0 ? LONG : LONGER - LONG;
  DLTensor in = rung_array_f32(line + first, &count), out = rung_array_f32(scanned + first, &count);
  return rung_scan_ranks(context, ranks, RUNG_SUM, &in, *(const int *)exclusive, &out, NULL);
}

static void a_range_may_end_where_a_part_does(void **state) {
  rung_context *both[RUNG_DEVICES];
  int64_t count = LONGER;
  int opened_both = 0;
  DLTensor in = rung_array_f32(line, &count), out = rung_array_f32(prefixes, &count);
  (void)state;
  for (int i = 0; i < LONGER; i++) line[i] = (float)(i % 10007) / 3 - 1500;
  const rung_status status = rung_open_devices(both, &opened_both, "sim,cpu", NULL);
  if (status != RUNG_OK) { /* no simulator */
    for (int r = 0; r < opened_both; r++) rung_close(both[r]);
    skip();
  }
  for (int exclusive = 0; exclusive < 2; exclusive++) {
    assert_int_equal(rung_scan(contexts[0], RUNG_SUM, &in, 0, exclusive, &out, NULL), RUNG_OK);
    memset(scanned, 0, sizeof scanned);
    assert_int_equal(rung_run_ranks(both, 2, 0, scan_long, &exclusive), RUNG_OK);
    assert_memory_equal(scanned, prefixes, sizeof prefixes);
  }
  for (int r = 0; r < opened_both; r++) rung_close(both[r]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_of_a_process_have_the_bits_of_one),
      cmocka_unit_test(a_rank_that_has_ended_is_named),
      cmocka_unit_test(the_deadline_ends_those_that_wait_for_each_other),
      cmocka_unit_test(bytes_come_as_they_were_sent),
      cmocka_unit_test(devices_copy_what_lies_in_their_memory),
      cmocka_unit_test(a_range_may_end_where_a_part_does),
      cmocka_unit_test(what_is_no_run_is_refused),
      cmocka_unit_test(lists_that_are_none_are_refused),
      cmocka_unit_test(cpus_have_the_processors_between_them),
  };
  return cmocka_run_group_tests(tests, open_three, close_three);
}
