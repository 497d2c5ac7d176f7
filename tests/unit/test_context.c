/* Contexts: how devices are asked for, and what is said where they are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/part.h"

static int clean(void **state) {
  (void)state;
  unsetenv("RUNG_ISA");
  unsetenv("OMP_NUM_THREADS");
  return 0;
}

/* Opening fails with that status and a sentence that holds `word`, and the context stays shut. */
static void refused(const rung_options *options, rung_status status, const char *word) {
  rung_context *context = NULL;
  assert_int_equal(rung_open(&context, options), status);
  assert_non_null(context);
  if (strstr(rung_last_error(context), word) == NULL)
    fail_msg("the sentence is: %s", rung_last_error(context));
  assert_int_equal(rung_begin(context), status);
  assert_int_equal(rung_synchronize(context), status);
  assert_non_null(strstr(rung_last_error(context), word));
  rung_close(context);
}

static rung_context *opened(const rung_options *options) {
  rung_context *context = NULL;
  if (rung_open(&context, options) != RUNG_OK) fail_msg("not opened: %s", rung_last_error(context));
  assert_string_equal(rung_last_error(context), "");
  assert_int_equal(rung_synchronize(context), RUNG_OK);
  return context;
}

static void nothing_is_a_crash(void **state) {
  (void)state;
  rung_close(NULL);
  assert_int_equal(rung_begin(NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_synchronize(NULL), RUNG_BAD_ARGUMENT);
  assert_string_equal(rung_last_error(NULL), "out of memory");
  assert_int_equal(rung_open(NULL, NULL), RUNG_BAD_ARGUMENT);
}

static void defaults_open_something(void **state) {
  (void)state;
  rung_context *context = opened(NULL);
  assert_true(context->device.name[0] != '\0');
  rung_close(context);
  rung_device device;
  rung_error error = {0};
  assert_int_equal(rung_find_device(NULL, &device, &error), RUNG_OK);
  assert_int_equal(rung_find_device("auto", &device, &error), RUNG_OK);
  assert_string_equal(error.sentence, "");
}

static void names_of_devices(void **state) {
  (void)state;
  static const char *const unknown[] = {
      "",        "gpu",       "CPU",     "cpu:0",
      "cuda:",   "cuda:x",    "cuda:-1", "cuda: 1",
      "cudaa",   "cuda:1x",   "auto ",   "sim:",
      "sim:h20", "sim:h2000", "sim:1",   "cuda:99999999999999999999"};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    refused(&(rung_options){.device = unknown[i]}, RUNG_UNKNOWN_NAME,
            "expected: \"auto\", \"cpu\", \"cuda\", \"cuda:<index>\", \"sim\", \"sim:h200\", "
            "\"sim:h100\", \"sim:a100\" or \"sim:t4\"");
    rung_device device;
    assert_int_equal(rung_find_device(unknown[i], &device, NULL), RUNG_UNKNOWN_NAME);
  }
  rung_context *context = opened(&(rung_options){.device = "cpu"});
  assert_int_equal(context->device.kind, RUNG_CPU);
  rung_close(context);
}

static void devices_that_are_not_there(void **state) {
  (void)state;
  if (rung_backend_of(RUNG_SIM, NULL) == NULL)
    refused(&(rung_options){.device = "sim"}, RUNG_NO_DEVICE, "needs the simulator");
  if (rung_backend_of(RUNG_CUDA, NULL) == NULL)
    refused(&(rung_options){.device = "cuda:1"}, RUNG_NO_DEVICE,
            "needs the CUDA part of the library");
  else
    refused(&(rung_options){.device = "cuda:999"}, RUNG_NO_DEVICE, "");
}

static void threads(void **state) {
  (void)state;
  refused(&(rung_options){.threads = -1}, RUNG_BAD_ARGUMENT, "threads is -1; expected: 1 ... 4096");
  refused(&(rung_options){.threads = 4097}, RUNG_BAD_ARGUMENT, "threads is 4097");
  static const int good[] = {1, 3, 4096};
  for (int i = 0; i < 3; i++) {
    rung_context *context = opened(&(rung_options){.device = "cpu", .threads = good[i]});
    assert_int_equal(context->device.threads, good[i]);
    rung_close(context);
  }
  rung_device device;
  assert_int_equal(rung_find_device("cpu", &device, NULL), RUNG_OK);
  assert_int_equal(device.threads, device.processors);
  setenv("OMP_NUM_THREADS", "5,2", 1);
  assert_int_equal(rung_find_device("cpu", &device, NULL), RUNG_OK);
  assert_int_equal(device.threads, 5);
  rung_context *context = opened(&(rung_options){.device = "cpu", .threads = 2});
  assert_int_equal(context->device.threads, 2); /* the option is stronger */
  rung_close(context);
  static const char *const meaningless[] = {"0", "-3", "many", ""};
  for (int i = 0; i < 4; i++) {
    setenv("OMP_NUM_THREADS", meaningless[i], 1);
    assert_int_equal(rung_find_device("cpu", &device, NULL), RUNG_OK);
    assert_int_equal(device.threads, device.processors);
  }
}

static void instruction_sets(void **state) {
  (void)state;
  refused(&(rung_options){.isa = "avx1024"}, RUNG_UNKNOWN_NAME,
          "isa is \"avx1024\"; expected: \"baseline\"");
  rung_device best;
  assert_int_equal(rung_find_device("cpu", &best, NULL), RUNG_OK);
  for (int i = 0; i < RUNG_ISAS; i++) {
    rung_options options = {.device = "cpu", .isa = rung_isa_name((rung_isa)i)};
    if (i > (int)best.isa) {
      refused(&options, RUNG_UNSUPPORTED, "which this CPU lacks; it has \"baseline\"");
      continue;
    }
    setenv("RUNG_ISA", "avx1024", 1); /* the option is stronger */
    rung_context *context = opened(&options);
    assert_int_equal(context->device.isa, i);
    rung_close(context);
    setenv("RUNG_ISA", options.isa, 1);
    rung_device device;
    assert_int_equal(rung_find_device("cpu", &device, NULL), RUNG_OK);
    assert_int_equal(device.isa, i);
    unsetenv("RUNG_ISA");
  }
  setenv("RUNG_ISA", "sse", 1);
  refused(&(rung_options){.device = "cpu"}, RUNG_UNKNOWN_NAME, "RUNG_ISA is \"sse\"");
  setenv("RUNG_ISA", "", 1);
  rung_close(opened(&(rung_options){.device = "cpu"}));
}

static void scratch_grows_once(void **state) {
  (void)state;
  rung_context *context = opened(&(rung_options){.device = "cpu"});
  void *first, *again, *larger;
  assert_int_equal(rung_scratch(context, 1000, &first), RUNG_OK);
  assert_int_equal((uintptr_t)first % 256, 0);
  memset(first, 1, 1000);
  assert_int_equal(rung_scratch(context, 10, &again), RUNG_OK);
  assert_ptr_equal(again, first);
  assert_int_equal(context->scratch_bytes, 1000);
  assert_int_equal(rung_scratch(context, (size_t)9 << 20, &larger), RUNG_OK);
  memset(larger, 1, (size_t)9 << 20);
  assert_int_equal(rung_scratch(context, (size_t)1 << 60, &larger), RUNG_OUT_OF_MEMORY);
  assert_null(larger);
  assert_non_null(strstr(rung_last_error(context), "1 EiB of host memory are needed"));
  assert_int_equal(context->scratch_bytes, 0);
  assert_int_equal(rung_scratch(context, 100, &again), RUNG_OK); /* and works on */
  memset(again, 1, 100);
  assert_int_equal(rung_begin(context), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
  rung_close(context);
}

static bool all_zero(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != 0) return false;
  return true;
}

static void zeros_are_zero(void **state) {
  (void)state;
  rung_context *context = opened(&(rung_options){.device = "cpu"});
  void *first, *again, *larger;
  assert_int_equal(rung_zeros(context, 0, &first), RUNG_OK);
  assert_null(first); /* none are there yet */
  assert_int_equal(rung_zeros(context, 1000, &first), RUNG_OK);
  assert_int_equal((uintptr_t)first % 256, 0);
  assert_true(all_zero(first, 1000));
  ((char *)first)[999] = 1; /* what was left is not cleared: that is the rungs' promise */
  assert_int_equal(rung_zeros(context, 1000, &again), RUNG_OK);
  assert_ptr_equal(again, first);
  assert_int_equal(((char *)again)[999], 1);
  rung_zeros_spoilt(context); /* unless it was broken */
  assert_int_equal(rung_zeros(context, 10, &again), RUNG_OK);
  assert_true(all_zero(again, 10));
  assert_int_equal(rung_zeros(context, 100000, &larger), RUNG_OK);
  assert_true(all_zero(larger, 100000));
  assert_int_equal(rung_zeros(context, (size_t)1 << 60, &larger), RUNG_OUT_OF_MEMORY);
  assert_null(larger);
  assert_int_equal(rung_zeros(context, 100, &again), RUNG_OK); /* and works on */
  assert_true(all_zero(again, 100));
  rung_close(context);
}

static void host_scratch_grows_once(void **state) {
  (void)state;
  rung_context *context = opened(&(rung_options){.device = "cpu"});
  void *first, *again, *larger;
  assert_int_equal(rung_host_scratch(context, 1000, &first), RUNG_OK);
  assert_int_equal((uintptr_t)first % 16, 0);
  memset(first, 1, 1000);
  assert_int_equal(rung_host_scratch(context, 10, &again), RUNG_OK);
  assert_ptr_equal(again, first);
  assert_int_equal(rung_host_scratch(context, 5000, &larger), RUNG_OK);
  memset(larger, 1, 5000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* whose malloc() ends all */
  assert_int_equal(rung_host_scratch(context, (size_t)1 << 60, &larger), RUNG_OUT_OF_MEMORY);
  assert_null(larger);
  assert_non_null(strstr(rung_last_error(context), "1152921504606846976 bytes of host memory"));
#endif
  assert_int_equal(rung_host_scratch(context, 100, &again), RUNG_OK); /* and works on */
  memset(again, 1, 100);
  rung_close(context);
}

static void near_and_far(void **state) {
  (void)state;
  rung_context *context = opened(&(rung_options){.device = "cpu"});
  rung_view view = {.place = RUNG_HOST};
  assert_true(rung_is_local(context, &view));
  view.place = RUNG_DEVICE;
  assert_false(rung_is_local(context, &view));
  context->device.kind = RUNG_CUDA; /* as if: asked of a GPU's context */
  context->device.index = 1;
  assert_false(rung_is_local(context, &view));
  view.device = 1;
  assert_true(rung_is_local(context, &view));
  view.place = RUNG_HOST;
  assert_false(rung_is_local(context, &view));
  rung_close(context);
}

static void *one_life(void *text) {
  for (int i = 0; i < 50; i++) {
    rung_context *context = NULL;
    void *memory;
    if (rung_open(&context, &(rung_options){.device = text}) == RUNG_OK)
      (void)rung_scratch(context, 4096, &memory);
    rung_close(context);
  }
  return NULL;
}

static void contexts_share_nothing(void **state) {
  (void)state;
  static char *const names[] = {"cpu", "nonsense", "cpu", "sim"};
  pthread_t lives[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&lives[i], NULL, one_life, names[i]), 0);
  for (int i = 0; i < 4; i++) pthread_join(lives[i], NULL);
}

static void statuses_are_pinned(void **state) {
  (void)state;
  static const char *const texts[] = {"success",
                                      "bad argument",
                                      "bad shape",
                                      "bad element type",
                                      "memory out of reach",
                                      "arrays share memory",
                                      "unknown name",
                                      "not supported",
                                      "no such device",
                                      "out of memory",
                                      "too large",
                                      "the device failed",
                                      "bad file",
                                      "file cannot be read or written",
                                      "check failed",
                                      "another rank failed"};
  for (int s = 0; s <= RUNG_RANKS_FAILED; s++)
    assert_string_equal(rung_status_text((rung_status)s), texts[s]);
  assert_string_equal(rung_status_text((rung_status)99), "unknown status");
  assert_string_equal(rung_status_text((rung_status)-1), "unknown status");
  assert_string_equal(rung_version(), RUNG_VERSION);
}

static void sentences_are_cut_and_may_quote(void **state) {
  (void)state;
  rung_error error = {0};
  assert_int_equal(rung_fail(NULL, RUNG_TOO_LARGE, "%d", 1), RUNG_TOO_LARGE);
  assert_int_equal(rung_fail(&error, RUNG_BAD_SHAPE, "inner %d", 7), RUNG_BAD_SHAPE);
  rung_fail(&error, RUNG_TOO_LARGE, "outer: %s", error.sentence);
  assert_string_equal(error.sentence, "outer: inner 7");
  assert_int_equal(error.status, RUNG_TOO_LARGE);
  rung_fail(&error, RUNG_TOO_LARGE, "%600d", 1);
  assert_int_equal(strlen(error.sentence), RUNG_SENTENCE - 1);
  rung_error_clear(&error);
  assert_int_equal(error.status, RUNG_OK);
  assert_string_equal(error.sentence, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(nothing_is_a_crash, clean),
      cmocka_unit_test_setup(defaults_open_something, clean),
      cmocka_unit_test_setup(names_of_devices, clean),
      cmocka_unit_test_setup(devices_that_are_not_there, clean),
      cmocka_unit_test_setup(threads, clean),
      cmocka_unit_test_setup(instruction_sets, clean),
      cmocka_unit_test_setup(scratch_grows_once, clean),
      cmocka_unit_test_setup(zeros_are_zero, clean),
      cmocka_unit_test_setup(host_scratch_grows_once, clean),
      cmocka_unit_test_setup(near_and_far, clean),
      cmocka_unit_test_setup(contexts_share_nothing, clean),
      cmocka_unit_test_setup(statuses_are_pinned, clean),
      cmocka_unit_test_setup(sentences_are_cut_and_may_quote, clean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
