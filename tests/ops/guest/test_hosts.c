/* Programs that have changed what a process can change, each of them a row of a table: the library
 * gives the same bits in all of them, and they find everything as they left it. */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "ops/guest/jobs.h"

extern char **environ;

/* ---- floating-point arithmetic ----------------------------------------------------------------
 */

#if defined(__x86_64__)
enum { FLUSH_BITS = 0x8040, TRAPS = 1 };
#define FLUSH __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLUSH_BITS)
#elif defined(__aarch64__)
enum { FLUSH_BITS = 1 << 24, TRAPS = 0 }; /* trapping is optional there */
#define FLUSH __builtin_aarch64_set_fpcr64(__builtin_aarch64_get_fpcr64() | FLUSH_BITS)
#else
enum { TRAPS = 0 };
#define FLUSH (void)0
#endif

static void round_as(int way) {
  fesetround(way);
}

static void flush(int unused) {
  (void)unused;
  FLUSH;
}

static void trap(int exceptions) {
  if (TRAPS) feenableexcept(exceptions);
}

static void see(int exceptions) {
  feraiseexcept(exceptions);
}

static void compute_plainly(void) {
  fesetenv(FE_DFL_ENV);
}

/* ---- signals ----------------------------------------------------------------------------------
 */

enum { ALTERNATE = 64 << 10 };
static char alternate[ALTERNATE];
static stack_t sanitizers_stack;
static atomic_bool astray; /* a handler ran elsewhere than on the alternate stack */

static void block_all(int unused) {
  sigset_t all;
  (void)unused;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void block_none(void) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void notice(int signal) {
  const char here = (char)signal, *at = &here;
  struct sigaction now;
  sigaction(signal, NULL, &now);
  if ((now.sa_flags & SA_ONSTACK) && (at < alternate || at >= alternate + ALTERNATE) &&
      !INSTRUMENTED) /* whose locals may lie elsewhere */
    astray = true;
}

/* A timer whose handler interrupts whatever is done, every millisecond. */
static void interrupt(int flags) {
  struct sigaction action = {.sa_handler = notice, .sa_flags = flags};
  const stack_t own = {.ss_sp = alternate, .ss_size = ALTERNATE};
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  sigaltstack(flags & SA_ONSTACK ? &own : NULL, &sanitizers_stack);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
}

static void interrupt_no_more(void) {
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  signal(SIGALRM, SIG_DFL);
  sigaltstack(&sanitizers_stack, NULL);
}

static void ignore_signal(int which) {
  signal(which, SIG_IGN);
}

static void heed_signals(void) {
  signal(SIGPIPE, SIG_DFL);
}

/* ---- places and names -------------------------------------------------------------------------
 */

static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};

static bool has_comma(void) {
  for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
    if (setlocale(LC_ALL, commas[i]) && localeconv()->decimal_point[0] == ',') return true;
  return false;
}

static void speak_utf8(int unused) {
  (void)unused;
  setlocale(LC_ALL, "C.UTF-8");
}

static void write_commas(int unused) {
  (void)unused;
  has_comma();
}

static void speak_c(void) {
  setlocale(LC_ALL, "C");
}

static int home = -1; /* the folder that was left */

static void stand_nowhere(int unused) {
  char folder[] = "/tmp/rung-test-host-XXXXXX";
  (void)unused;
  home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (home < 0 || !mkdtemp(folder) || chdir(folder) != 0 || rmdir(folder) != 0) abort();
}

static void return_home(void) {
  if (fchdir(home) != 0) abort();
  close(home);
}

static char *no_variables[] = {NULL}, *odd_variables[] = {"OMP_NUM_THREADS=-3, many",
                                                          "HOME=",
                                                          "TMPDIR=/nowhere",
                                                          "TZ=\xff",
                                                          "LC_ALL=xx_XX",
                                                          "RUNG_ISA=",
                                                          "RUNG_MEMORY_LIMIT=",
                                                          "no equals sign",
                                                          NULL};
static char **variables;

static void forget_variables(int odd) {
  variables = environ;
  environ = odd ? odd_variables : no_variables;
}

static void remember_variables(void) {
  environ = variables;
}

static mode_t old_mask;

static void mask_files(int mask) {
  old_mask = umask((mode_t)mask);
}

static void unmask_files(void) {
  umask(old_mask);
}

/* ---- what the system gives --------------------------------------------------------------------
 */

enum { STREAMS = 3, ASIDE = 40 };

static void close_streams(int unused) {
  (void)unused;
  for (int d = 0; d < STREAMS; d++) {
    if (fcntl(d, F_DUPFD_CLOEXEC, ASIDE) < 0) abort();
    close(d);
  }
}

static void reopen_streams(void) {
  for (int d = 0; d < STREAMS; d++) {
    dup2(ASIDE + d, d);
    close(ASIDE + d);
  }
}

static struct rlimit old_limit;
static int limited;

static void limit_to(int which, rlim_t least) {
  limited = which;
  getrlimit((__rlimit_resource_t)which, &old_limit);
  const struct rlimit low = {least, old_limit.rlim_max};
  if (setrlimit((__rlimit_resource_t)which, &low) != 0) abort();
}

static void open_no_files(int unused) {
  (void)unused;
  limit_to(RLIMIT_NOFILE, 0);
}

static void make_no_threads(int unused) {
  (void)unused;
  limit_to(RLIMIT_NPROC, 1);
}

/* What there is now, and 8 MiB. */
static void get_no_memory(int unused) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  (void)unused;
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) abort();
  fclose(file);
  limit_to(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20));
}

static void lift_limit(void) {
  if (setrlimit((__rlimit_resource_t)limited, &old_limit) != 0) abort();
}

static cpu_set_t old_processors;

static void keep_to_one_processor(int unused) {
  cpu_set_t one;
  int first = 0;
  (void)unused;
  sched_getaffinity(0, sizeof old_processors, &old_processors);
  while (!CPU_ISSET(first, &old_processors)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void use_all_processors(void) {
  sched_setaffinity(0, sizeof old_processors, &old_processors);
}

/* ---- the programs -----------------------------------------------------------------------------
 */

typedef struct host {
  const char *name;
  void (*enter)(int argument);
  int argument;
  void (*leave)(void);
  bool lacks_memory; /* a call may say so */
  bool small_stack;  /* calls come from a thread with RUNG_STACK bytes */
} host;

static const host hosts[] = {
#define HOST(name_, enter_, argument_, leave_) \
  { .name = name_, .enter = enter_, .argument = argument_, .leave = leave_ }
    HOST("may make no processes", make_no_threads, 0, lift_limit),
    HOST("rounds upward", round_as, FE_UPWARD, compute_plainly),
    HOST("rounds downward", round_as, FE_DOWNWARD, compute_plainly),
    HOST("rounds to zero", round_as, FE_TOWARDZERO, compute_plainly),
    HOST("flushes subnormal numbers", flush, 0, compute_plainly),
    HOST("traps exceptions", trap, FE_ALL_EXCEPT, compute_plainly),
    HOST("has seen exceptions", see, FE_DIVBYZERO | FE_OVERFLOW, compute_plainly),
    HOST("blocks all signals", block_all, 0, block_none),
    HOST("ignores a signal", ignore_signal, SIGPIPE, heed_signals),
    HOST("is interrupted", interrupt, 0, interrupt_no_more),
    HOST("is interrupted on another stack", interrupt, SA_ONSTACK, interrupt_no_more),
    HOST("speaks UTF-8", speak_utf8, 0, speak_c),
    HOST("stands in a folder that is gone", stand_nowhere, 0, return_home),
    HOST("has no environment", forget_variables, 0, remember_variables),
    HOST("has an odd environment", forget_variables, 1, remember_variables),
    HOST("makes files for nobody", mask_files, 0777, unmask_files),
    HOST("has closed its streams", close_streams, 0, reopen_streams),
    HOST("may open no files", open_no_files, 0, lift_limit),
    HOST("keeps to one processor", keep_to_one_processor, 0, use_all_processors),
    {.name = "has a small stack", .small_stack = true},
};
static const host with_commas = HOST("writes decimal commas", write_commas, 0, speak_c),
                  without_memory = {.name = "gets no memory",
                                    .enter = get_no_memory,
                                    .leave = lift_limit,
                                    .lacks_memory = true};
#undef HOST

/* ---- what a program finds ---------------------------------------------------------------------
 */

enum { SIGNALS = 65, FILES = 64 };

typedef struct found {
  uint64_t float_mode;
  int rounding, traps, exceptions;
  sigset_t blocked;
  struct {
    void (*handler)(int);
    int flags;
    uint64_t blocked;
  } actions[SIGNALS];
  stack_t signal_stack;
  struct timeval timer;
  char locale[128];
  locale_t thread_locale;
  dev_t device;
  ino_t folder;
  char **environment, *variables[16];
  mode_t mask;
  struct rlimit limits[RLIM_NLIMITS];
  cpu_set_t processors;
  char open[FILES];
} found;

static const struct {
  const char *name;
  size_t offset, size;
} parts[] = {
#define PART(member) \
  { #member, offsetof(found, member), sizeof(((found *)0)->member) }
    PART(float_mode), PART(rounding),     PART(traps),       PART(exceptions), PART(blocked),
    PART(actions),    PART(signal_stack), PART(timer),       PART(locale),     PART(thread_locale),
    PART(device),     PART(folder),       PART(environment), PART(variables),  PART(mask),
    PART(limits),     PART(processors),   PART(open),
#undef PART
};

static void look_at_signals(found *now) {
  struct itimerval timer;
  pthread_sigmask(SIG_SETMASK, NULL, &now->blocked);
  for (int s = 1; s < SIGNALS; s++) {
    struct sigaction action;
    if (sigaction(s, NULL, &action) != 0) continue;
    now->actions[s].handler = action.sa_handler;
    now->actions[s].flags = action.sa_flags;
    for (int b = 1; b < SIGNALS; b++)
      if (sigismember(&action.sa_mask, b) == 1) now->actions[s].blocked |= UINT64_C(1) << (b - 1);
  }
  sigaltstack(NULL, &now->signal_stack);
  getitimer(ITIMER_REAL, &timer);
  now->timer = timer.it_interval;
}

static void look_around(found *now) {
  struct stat here = {0};
  memset(now, 0, sizeof *now);
#if defined(__x86_64__)
  now->float_mode = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  now->float_mode = __builtin_aarch64_get_fpcr64();
#endif
  now->rounding = fegetround();
  now->traps = fegetexcept();
  now->exceptions = fetestexcept(FE_ALL_EXCEPT);
  look_at_signals(now);
  snprintf(now->locale, sizeof now->locale, "%s", setlocale(LC_ALL, NULL));
  now->thread_locale = uselocale((locale_t)0);
  if (stat(".", &here) != 0) abort();
  now->device = here.st_dev;
  now->folder = here.st_ino;
  now->environment = environ;
  for (int v = 0; v < 16 && environ[v] != NULL; v++) now->variables[v] = environ[v];
  umask(now->mask = umask(0));
  for (int r = 0; r < RLIM_NLIMITS; r++) getrlimit((__rlimit_resource_t)r, &now->limits[r]);
  sched_getaffinity(0, sizeof now->processors, &now->processors);
  for (int d = 0; d < FILES; d++) now->open[d] = fcntl(d, F_GETFD) >= 0;
}

/* ---- a visit ----------------------------------------------------------------------------------
 */

/* Where contexts are opened: on that device, with so many threads, by the program as it was before
 * or as it has become. */
typedef struct place {
  const char *device;
  int threads;
  bool before;
} place;

typedef struct visit {
  const place *place;
  const host *host;
  const numbers *numbers;
  rung_context *context;
  rung_status opened;
  results made;
  found was, is;
} visit;

static rung_status open_there(const place *place, rung_context **context) {
  return rung_open(context, &(rung_options){.device = place->device, .threads = place->threads});
}

/* Nothing is asserted before the program is again as it was. */
static void *stay(void *to) {
  visit *v = to;
  const host *host = v->host;
  if (host->enter) host->enter(host->argument);
  look_around(&v->was);
  if (!v->place->before) v->opened = open_there(v->place, &v->context);
  if (v->opened == RUNG_OK) run_jobs(v->context, v->numbers, &v->made);
  if (!v->place->before) rung_close(v->context);
  look_around(&v->is);
  if (host->leave) host->leave();
  return NULL;
}

static void stay_on_a_small_stack(visit *v) {
  pthread_t thread;
  pthread_attr_t attributes;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  /* A sanitizer's frames are several times as large. */
  const size_t bytes = (INSTRUMENTED ? 8 : 1) * (size_t)RUNG_STACK;
  assert_int_equal(pthread_attr_setstacksize(&attributes, bytes), 0);
  assert_int_equal(pthread_create(&thread, &attributes, stay, v), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attributes);
}

static void compare_found(const visit *v) {
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    const char *was = (const char *)&v->was, *is = (const char *)&v->is;
    if (memcmp(was + parts[p].offset, is + parts[p].offset, parts[p].size) != 0)
      fail_msg("a program that %s, %s: its %s has changed", v->host->name, v->place->device,
               parts[p].name);
  }
  if (astray) fail_msg("a program that %s: a handler ran on a wrong stack", v->host->name);
}

static void compare_made(const visit *v, const results *expected) {
  for (int j = 0; j < JOBS; j++) {
    const rung_status status = v->opened != RUNG_OK ? v->opened : v->made.status[j];
    if (v->host->lacks_memory && status == RUNG_OUT_OF_MEMORY) continue;
    const char *fault = fault_of(j, status, v->made.made[j], expected->made[j]);
    if (fault) fail_msg("a program that %s, %s: %s", v->host->name, v->place->device, fault);
  }
}

static void visit_hosts(const place *place, const host *list, size_t count) {
  static const host plain = {.name = "changes nothing"};
  const bool few = strcmp(place->device, "sim") == 0 || (INSTRUMENTED && !place->before);
  static visit v;
  static results expected;
  v = (visit){.place = place, .host = &plain, .numbers = make_numbers(few ? FEW : MANY)};
  look_around(&v.was);
  if (open_there(place, &v.context) != RUNG_OK) {
    rung_close(v.context);
    skip();
  }
  run_jobs(v.context, v.numbers, &expected); /* which makes the threads there are to be */
  look_around(&v.is);
  compare_found(&v);
  rung_context *before = v.context;
  for (size_t h = 0; h < count; h++) {
    v.host = &list[h];
    v.context = before;
    if (v.host->small_stack)
      stay_on_a_small_stack(&v);
    else
      stay(&v);
    compare_found(&v);
    compare_made(&v, &expected);
  }
  rung_close(before);
}

static const place one_thread = {"cpu", 1, false}, three_threads = {"cpu", 3, true},
                   two_threads = {"cpu", 2, false}, simulator = {"sim", 0, false};

static void on_one_thread(void **state) {
  (void)state;
  visit_hosts(&one_thread, hosts, sizeof hosts / sizeof *hosts);
}

static void on_several_threads(void **state) {
  (void)state;
  visit_hosts(&two_threads, hosts, sizeof hosts / sizeof *hosts);
}

static void in_a_context_of_before(void **state) {
  (void)state;
  visit_hosts(&three_threads, hosts, sizeof hosts / sizeof *hosts);
}

static void on_the_simulator(void **state) {
  (void)state;
  visit_hosts(&simulator, hosts, sizeof hosts / sizeof *hosts);
}

/* A sanitizer's shadow needs all address space there is. */
static void little_address_space(void **state) {
  (void)state;
  if (INSTRUMENTED) skip();
  visit_hosts(&one_thread, &without_memory, 1);
  visit_hosts(&simulator, &without_memory, 1);
}

static void decimal_commas(void **state) {
  (void)state;
  const bool found_one = has_comma();
  speak_c();
  if (!found_one) skip();
  visit_hosts(&two_threads, &with_commas, 1);
  visit_hosts(&simulator, &with_commas, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_one_thread),          cmocka_unit_test(on_several_threads),
      cmocka_unit_test(in_a_context_of_before), cmocka_unit_test(on_the_simulator),
      cmocka_unit_test(little_address_space),   cmocka_unit_test(decimal_commas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
