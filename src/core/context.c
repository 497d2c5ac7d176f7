#include "core/context.h"
#include "core/part.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/layout.h"

enum { MOST_THREADS = 4096, NAME_SHOWN = 64 };

/* What can be said of a device before it is looked for. */
typedef struct wish {
  bool any; /* "auto" */
  rung_kind kind;
  int index;
} wish;

/* ---- finding a device ---------------------------------------------------------------------- */

/* "cuda" or "cuda:12"; false where `name` is neither. */
static bool cuda_index(const char *name, int *index) {
  if (strncmp(name, "cuda", 4) != 0) return false;
  const char *at = name + 4;
  *index = 0;
  if (*at == '\0') return true;
  if (*at++ != ':' || *at == '\0' || strlen(at) > 6) return false;
  for (; *at != '\0'; at++) {
    if (*at < '0' || *at > '9') return false;
    *index = *index * 10 + (*at - '0');
  }
  return true;
}

static const char *const models[] = {RUNG_SIM_MODELS};

const char *rung_sim_model(int index) {
  return index > 0 ? models[index - 1] : NULL;
}

/* "sim:a100". */
static bool sim_model(const char *name, int *index) {
  if (strncmp(name, "sim:", 4) != 0) return false;
  for (*index = 1; *index <= (int)(sizeof models / sizeof *models); ++*index)
    if (strcmp(models[*index - 1], name + 4) == 0) return true;
  return false;
}

static rung_status read_name(const char *name, wish *wish, rung_error *error) {
  *wish = (struct wish){0};
  if (name == NULL || strcmp(name, "auto") == 0)
    wish->any = true;
  else if (strcmp(name, "cpu") == 0)
    wish->kind = RUNG_CPU;
  else if (strcmp(name, "sim") == 0)
    wish->kind = RUNG_SIM;
  else if (sim_model(name, &wish->index))
    wish->kind = RUNG_SIM;
  else if (cuda_index(name, &wish->index))
    wish->kind = RUNG_CUDA;
  else
    return rung_fail(
        error, RUNG_UNKNOWN_NAME,
        "device is \"%.*s\"; expected: \"auto\", \"cpu\", \"cuda\", \"cuda:<index>\", \"sim\", "
        "\"sim:h200\", \"sim:h100\", \"sim:a100\" or \"sim:t4\"",
        NAME_SHOWN, name);
  return RUNG_OK;
}

/* The device of a kind, by its index. */
static rung_status describe(rung_kind kind, int index, rung_device *device, rung_error *error) {
  const rung_backend *backend = rung_backend_of(kind, error);
  if (backend == NULL) return RUNG_NO_DEVICE;
  int devices = 0;
  rung_status status = backend->count(&devices, error);
  if (status != RUNG_OK) return status;
  if (index >= devices && kind != RUNG_SIM)
    return rung_fail(error, RUNG_NO_DEVICE,
                     "device is \"%s:%d\", but there %s %d such device%s; expected: "
                     "%s:0 ... %s:%d",
                     backend->name, index, devices == 1 ? "is" : "are", devices,
                     devices == 1 ? "" : "s", backend->name, backend->name, devices - 1);
  status = backend->describe(index, device, error);
  if (status != RUNG_OK || kind == RUNG_CPU || device->capability >= RUNG_LEAST_CAPABILITY)
    return status;
  return rung_fail(error, RUNG_UNSUPPORTED,
                   "%s is of compute capability %d.%d; expected: %d.%d or higher", device->name,
                   device->capability / 10, device->capability % 10, RUNG_LEAST_CAPABILITY / 10,
                   RUNG_LEAST_CAPABILITY % 10);
}

/* Gives every device the name allows, the best first, to use(), until one is taken. "auto" passes
 * over what does not work without a word: the CPU always does. */
typedef rung_status use_device(void *user, rung_device *device, rung_error *error);

static rung_status find(const char *name, use_device *use, void *user, rung_error *error) {
  wish wish;
  rung_device device;
  rung_status status = read_name(name, &wish, error);
  if (status != RUNG_OK) return status;
  const rung_backend *cuda = wish.any ? rung_backend_of(RUNG_CUDA, NULL) : NULL;
  int devices = 0;
  rung_error unsaid;
  if (cuda != NULL && cuda->count(&devices, &unsaid) == RUNG_OK) {
    for (int i = 0; i < devices; i++) {
      if (describe(RUNG_CUDA, i, &device, &unsaid) == RUNG_OK &&
          use(user, &device, &unsaid) == RUNG_OK)
        return RUNG_OK;
    }
  }
  status = describe(wish.kind, wish.index, &device, error);
  return status == RUNG_OK ? use(user, &device, error) : status;
}

/* ---- the CPU's own options ------------------------------------------------------------------ */

/* The instruction set asked for by the option, else by RUNG_ISA; false: by neither. */
static rung_status read_isa(const char *option, bool *asked, rung_isa *isa, rung_error *error) {
  const char *name = option != NULL ? option : getenv("RUNG_ISA");
  *asked = name != NULL && *name != '\0';
  if (!*asked || rung_isa_named(name, isa)) return RUNG_OK;
  return rung_fail(error, RUNG_UNKNOWN_NAME,
                   "%s is \"%.*s\"; expected: \"baseline\", \"avx2\" or \"avx512\"",
                   option != NULL ? "isa" : "environment variable RUNG_ISA", NAME_SHOWN, name);
}

/* ---- the limit of memory -------------------------------------------------------------------- */

/* "3000000", "64M": bytes, with K, M or G in units of 2^10, 2^20 or 2^30. */
static bool read_bytes(const char *text, int64_t *bytes) {
  static const char units[] = "KMG";
  const char *at = text;
  *bytes = 0;
  for (; *at >= '0' && *at <= '9'; at++)
    if (__builtin_mul_overflow(*bytes, 10, bytes) ||
        __builtin_add_overflow(*bytes, *at - '0', bytes))
      return false;
  if (at == text) return false;
  const char *unit = *at != '\0' ? strchr(units, *at) : NULL;
  if (unit != NULL && at[1] == '\0')
    return *bytes > 0 &&
           !__builtin_mul_overflow(*bytes, (int64_t)1 << 10 * (unit - units + 1), bytes);
  return *at == '\0' && *bytes > 0;
}

static rung_status read_limit(int64_t *limit, rung_error *error) {
  const char *text = getenv("RUNG_MEMORY_LIMIT");
  *limit = 0;
  if (text == NULL || *text == '\0' || read_bytes(text, limit)) return RUNG_OK;
  *limit = 0;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "environment variable RUNG_MEMORY_LIMIT is \"%.*s\"; expected: a number of "
                   "bytes from 1 on, or one with K, M or G",
                   NAME_SHOWN, text);
}

/* What the caller asks of any device it may be given. */
typedef struct demands {
  int threads;
  bool isa_asked;
  rung_isa isa;
} demands;

static rung_status read_demands(const rung_options *options, demands *demands, rung_error *error) {
  demands->threads = options->threads;
  if (options->threads < 0 || options->threads > MOST_THREADS)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "threads is %d; expected: 1 ... %d, or 0 for as many as the process may use",
                     options->threads, MOST_THREADS);
  return read_isa(options->isa, &demands->isa_asked, &demands->isa, error);
}

/* describe() gave the best instruction set and the default number of threads. */
static rung_status apply_demands(const demands *demands, rung_device *device, rung_error *error) {
  if (device->kind != RUNG_CPU) return RUNG_OK;
  if (demands->threads > 0) device->threads = demands->threads;
  if (!demands->isa_asked) return RUNG_OK;
  if (demands->isa > device->isa)
    return rung_fail(
        error, RUNG_UNSUPPORTED, "isa is \"%s\", which this CPU lacks; it has %s",
        rung_isa_name(demands->isa),
        device->isa == RUNG_BASELINE ? "\"baseline\" only" : "\"baseline\" and \"avx2\"");
  device->isa = demands->isa;
  return RUNG_OK;
}

/* ---- the thread that calls ------------------------------------------------------------------- */

static rung_caller arrive(const rung_backend *backend) {
  rung_caller caller = {.current = backend->arrive != NULL ? backend->arrive() : NULL};
  rung_float_mode_enter(&caller.mode);
  return caller;
}

static void depart(const rung_backend *backend, const rung_caller *caller) {
  rung_float_mode_leave(&caller->mode);
  if (backend->depart != NULL) backend->depart(caller->current);
}

/* ---- forks ------------------------------------------------------------------------------------
 */

static atomic_uint forks;
static bool counting_forks;

static void count_fork(void) {
  forks++;
}

static void count_forks(void) {
  counting_forks = pthread_atfork(NULL, NULL, count_fork) == 0;
}

/* ---- opening and closing -------------------------------------------------------------------- */

typedef struct keeping {
  const demands *demands;
  rung_device *device;
} keeping;

static rung_status keep_device(void *user, rung_device *device, rung_error *error) {
  keeping *keep = user;
  rung_status status = apply_demands(keep->demands, device, error);
  if (status == RUNG_OK) *keep->device = *device;
  return status;
}

rung_status rung_find_device(const char *name, rung_device *device, rung_error *error) {
  demands demands;
  rung_status status = read_demands(&(rung_options){0}, &demands, error);
  if (status != RUNG_OK) return status;
  return find(name, keep_device, &(keeping){&demands, device}, error);
}

typedef struct opening {
  const demands *demands;
  void *stream;
  rung_context *context;
} opening;

static rung_status open_device(void *user, rung_device *device, rung_error *error) {
  opening *open = user;
  const rung_backend *backend = rung_backend_of(device->kind, error);
  rung_state *state;
  if (backend == NULL) return RUNG_NO_DEVICE;
  rung_status status = apply_demands(open->demands, device, error);
  if (status != RUNG_OK) return status;
  void *stream = open->stream == NULL ? backend->default_stream : open->stream;
  const rung_caller caller = arrive(backend);
  status = backend->open(device, stream == RUNG_OWN_STREAM ? NULL : stream, &state, error);
  depart(backend, &caller);
  if (status != RUNG_OK) return status;
  open->context->backend = backend;
  open->context->state = state;
  open->context->device = *device;
  return RUNG_OK;
}

static rung_status open_context(rung_context *made, const rung_options *options) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  rung_options known = {0};
  demands demands;
  rung_status status = RUNG_OK;
  pthread_once(&once, count_forks);
  made->forks = forks;
  if (!counting_forks)
    status = rung_fail(&made->error, RUNG_OUT_OF_MEMORY, "no memory to be told of fork()");
  if (status == RUNG_OK && options != NULL)
    status = rung_read_struct(&made->error, "options", &rung_options_layout, options, &known);
  if (status == RUNG_OK) status = read_demands(&known, &demands, &made->error);
  if (status == RUNG_OK) status = read_limit(&made->memory_limit, &made->error);
  if (status != RUNG_OK) return status;
  opening opening = {.demands = &demands, .stream = known.stream, .context = made};
  return find(known.device, open_device, &opening, &made->error);
}

rung_status rung_open(rung_context **context, const rung_options *options) {
  if (context == NULL) return RUNG_BAD_ARGUMENT;
  rung_context *made = calloc(1, sizeof *made);
  *context = made;
  if (made == NULL) return RUNG_OUT_OF_MEMORY;
  rung_float_mode callers;
  rung_float_mode_enter(&callers);
  const rung_status status = open_context(made, options);
  rung_float_mode_leave(&callers);
  return status;
}

void rung_close(rung_context *context) {
  if (context == NULL) return;
  /* What a parent has opened hangs on its driver and its threads. */
  if (context->backend != NULL && context->forks == forks) {
    const rung_caller caller = arrive(context->backend);
    rung_memory_release(context);
    context->backend->close(context->state);
    depart(context->backend, &caller);
  }
  free(context->preferred);
  free(context);
}

/* ---- an open context ------------------------------------------------------------------------ */

rung_status rung_ready(rung_context *context) {
  if (context == NULL) return RUNG_BAD_ARGUMENT;
  /* Why it never opened stays readable. */
  if (context->backend == NULL) return context->error.status;
  if (context->forks != forks)
    return rung_fail(&context->error, RUNG_BAD_ARGUMENT,
                     "context was opened before fork(), by the parent of this process; expected: "
                     "one that this process has opened");
  rung_error_clear(&context->error);
  return RUNG_OK;
}

rung_status rung_begin(rung_context *context) {
  const rung_status status = rung_ready(context);
  if (status == RUNG_OK) context->caller = arrive(context->backend);
  return status;
}

rung_status rung_end(rung_context *context, rung_status status) {
  /* What was tried first, and refused, is nobody's concern. */
  if (status == RUNG_OK) rung_error_clear(&context->error);
  depart(context->backend, &context->caller);
  return status;
}

/* Asked without a word about contexts that are not open: calls on them have it to say. */
static bool settles(const rung_context *context) {
  return context != NULL && context->backend != NULL && context->backend->settle != NULL &&
         context->forks == forks;
}

void *rung_settle_thread(rung_context *context) {
  if (!settles(context)) return NULL;
  void *callers = context->backend->arrive();
  context->backend->settle(context->state);
  return callers;
}

void rung_leave_thread(rung_context *context, void *callers) {
  if (settles(context)) context->backend->depart(callers);
}

rung_status rung_synchronize(rung_context *context) {
  const rung_status status = rung_begin(context);
  if (status != RUNG_OK) return status;
  return rung_end(context, context->backend->synchronize(context->state, &context->error));
}

const char *rung_last_error(const rung_context *context) {
  return context == NULL ? rung_status_text(RUNG_OUT_OF_MEMORY) : context->error.sentence;
}

bool rung_is_local(const rung_context *context, const rung_view *view) {
  if (context->device.kind == RUNG_CUDA)
    return view->place == RUNG_DEVICE && view->device == context->device.index;
  if (context->device.kind == RUNG_SIM && context->memory_limit > 0) return false;
  return view->place == RUNG_HOST;
}
