/* rung devices: what is here, and what it can do. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/ranks.h"
#include "lab/lab.h"

static const char verb[] = "devices";

typedef struct request {
  bool peaks;
} request;

static const cli_option options[] = {
    {"peaks", 0, NULL, "measure the peaks anew: bandwidths and arithmetic rates (takes seconds)"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  (void)index;
  (void)value;
  (void)error;
  ((request *)to)->peaks = true;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPTION]...",
    .about =
        "Lists every device with all that is known of it. Started by mpirun: where each rank runs.",
    .example = "rung devices --peaks",
    .common = CLI_DEVICE | CLI_THREADS | CLI_JSON | CLI_OUTPUT,
    .device_help = "only this one: cpu, cuda, cuda:<index> or sim; default: all that are here",
    .options = options,
    .take = take};

/* Where facts go as they come. */
typedef struct sink {
  FILE *text;     /* NULL: into the object */
  json_t *object; /* NULL: memory ran out */
  int threads;    /* those of --threads; 0: the fact as it is */
} sink;

static void emit(void *to, const char *key, const char *value) {
  sink *s = to;
  char number[16];
  if (s->threads > 0 && strcmp(key, "threads used") == 0) {
    snprintf(number, sizeof number, "%d", s->threads);
    value = number;
  }
  if (s->text)
    fprintf(s->text, "  %-34s %s\n", key, value);
  else
    cli_set(&s->object, key, lab_text(value));
}

static void emit_rate(sink *s, const char *key, double value, const char *unit) {
  char text[48];
  snprintf(text, sizeof text, "%.4g %s", value, unit);
  emit(s, key, text);
}

static void emit_peaks(sink *s, const rung_device *device, const lab_peaks *peaks) {
  char key[64], name[8], text[64];
  for (int level = peaks->levels - 1; level >= 0; level--) {
    const lab_bandwidth *of = &peaks->bandwidth[level];
    const double rates[] = {of->read, of->write, of->copy};
    static const char *const ways[] = {"read", "write", "copy (both ways)"};
    lab_level_name(device, level, name);
    for (int i = 0; i < 3; i++) {
      snprintf(key, sizeof key, "measured %s %s", name, ways[i]);
      emit_rate(s, key, rates[i], "GB/s");
    }
  }
  emit_rate(s, "measured float rate", 2e-3 * peaks->fma32, "TFLOP/s");
  emit_rate(s, "measured double rate", 2e-3 * peaks->fma64, "TFLOP/s");
  if (peaks->mma64 > peaks->fma64)
    emit_rate(s, "measured double rate, matrices", 2e-3 * peaks->mma64, "TFLOP/s");
  lab_date_text(peaks->conditions.date, text);
  emit(s, "measured on", text);
  emit_rate(s, "load when measured", peaks->conditions.load, "tasks per processor");
}

/* Measured now, or where that was done before: what is known. */
static rung_status show_peaks(const cli_common *common, const rung_device_info *device,
                              bool measure, sink *s, rung_error *error) {
  rung_context *context;
  lab_peaks peaks = {0};
  rung_status status = cli_open(common, device->device, &context, error);
  if (status) return status;
  const lab_conditions now = lab_conditions_now();
  bool known = !measure && lab_peaks_kept(&context->device, &now, &peaks);
  if (measure) {
    cli_note(common, verb, "measuring the peaks of %s", context->device.name);
    status = lab_peaks_again(context, &now, &peaks, error);
  }
  if (!status && (measure || known)) emit_peaks(s, &context->device, &peaks);
  rung_close(context);
  return status;
}

static rung_status show(const cli_common *common, const rung_device_info *device, bool measure,
                        FILE *to, json_t **all, rung_error *error) {
  char why[RUNG_TEXT];
  sink s = {.text = common->json ? NULL : to, .object = common->json ? json_object() : NULL};
  if (s.text)
    fprintf(to, "%s%s: %s%s\n", cli_colour(to, CLI_BOLD), device->device, device->name,
            cli_colour(to, CLI_PLAIN));
  rung_device_info opened = {0};
  rung_status status = RUNG_OK;
  if (common->threads > 0 && strcmp(device->kind, "cpu") == 0)
    status = cli_opened(common, device->device, &opened, error);
  s.threads = opened.threads;
  if (!status && (status = rung_device_facts(device->device, emit, &s, why)))
    rung_fail(error, status, "%s", why);
  if (!status && strcmp(device->kind, "sim") != 0)
    status = show_peaks(common, device, measure, &s, error);
  if (common->json)
    cli_append(all, lab_object("{s:s, s:o, s:o}", "device", device->device, "name",
                               lab_text(device->name), "facts", s.object));
  return status;
}

/* All that are here, and why there is no GPU among them. */
static rung_status show_all(const cli_common *common, bool measure, FILE *to, json_t **all,
                            char absent[RUNG_TEXT], rung_error *error) {
  rung_device_info device = {.size = sizeof device};
  rung_status status = RUNG_OK;
  for (int i = 0; !status && rung_device_at(i, &device) == RUNG_OK; i++) {
    if (device.usable)
      status = show(common, &device, measure && strcmp(device.kind, "sim") != 0, to, all, error);
    else if (strcmp(device.kind, "cuda") == 0)
      memcpy(absent, device.why_not, RUNG_TEXT);
  }
  return status;
}

/* ---- over ranks ----------------------------------------------------------------------------- */

/* Where a rank runs. */
typedef struct whereabouts {
  char host[64], processors[96], gpu[RUNG_TEXT];
} whereabouts;

/* "0-3,8": those that this process may use; "?" where that is not known. */
static void list_processors(char *text, size_t room) {
  cpu_set_t allowed;
  size_t used = 0;
  snprintf(text, room, "?");
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int first = 0, last; first < CPU_SETSIZE && used + 24 < room; first = last + 1) {
    for (last = first; last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &allowed); last++) continue;
    if (!CPU_ISSET(first, &allowed)) {
      last = first;
      continue;
    }
    used += (size_t)snprintf(text + used, room - used, "%s%d", used ? "," : "", first);
    if (last > first) used += (size_t)snprintf(text + used, room - used, "-%d", last);
  }
}

/* The first GPU that can be used is the one that --device auto takes. */
static void name_gpu(char *text, size_t room) {
  rung_device_info info = {.size = sizeof info};
  snprintf(text, room, "none");
  for (int i = 0; rung_device_at(i, &info) == RUNG_OK; i++) {
    if (strcmp(info.kind, "cuda") != 0 || !info.usable) continue;
    snprintf(text, room, "%s, %s", info.device, info.name);
    return;
  }
}

static json_t *place_json(int rank, const whereabouts *place) {
  return lab_object("{s:i, s:o, s:o, s:o}", "rank", rank, "host", lab_text(place->host),
                    "processors", lab_text(place->processors), "gpu", lab_text(place->gpu));
}

static rung_status show_ranks(const cli_common *common, const request *r, rung_error *error) {
  whereabouts mine = {0};
  file_replace out = {0};
  if (common->device || r->peaks)
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "--%s is not taken over ranks; expected: RUNG_RANKS=0 in the environment: each "
        "by itself",
        r->peaks ? "peaks" : "device");
  gethostname(mine.host, sizeof mine.host - 1);
  list_processors(mine.processors, sizeof mine.processors);
  name_gpu(mine.gpu, sizeof mine.gpu);
  const whereabouts *all = ranks_gather(&mine, sizeof mine, error);
  if (!all || ranks_number() > 0) return error->status;
  rung_status status = cli_results_begin(&out, common, error);
  if (status) return status;
  json_t *list = common->json ? json_array() : NULL;
  for (int rank = 0; rank < ranks_all()->count; rank++) {
    const whereabouts *at = &all[rank];
    if (common->json)
      cli_append(&list, place_json(rank, at));
    else
      fprintf(out.stream, "rank %d: host %s, processors %s, GPU %s\n", rank, at->host,
              at->processors, at->gpu);
  }
  if (common->json)
    status = cli_results_json(&out, lab_object("{s:s, s:o}", "verb", verb, "ranks", list), error);
  if (!status) status = file_replace_commit(&out, error);
  file_replace_abandon(&out);
  return status;
}

int verb_devices(int argc, char **argv) {
  request r = {0};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  if (ranks_all()) {
    show_ranks(&common, &r, &error);
    return cli_end(verb, &error);
  }
  rung_device_info one;
  const bool named = common.device && strcmp(common.device, "auto") != 0;
  char absent[RUNG_TEXT] = "";
  file_replace out = {0};
  json_t *all = json_array();
  rung_status status = named ? cli_opened(&common, common.device, &one, &error) : RUNG_OK;
  if (!status) status = cli_results_begin(&out, &common, &error);
  if (!status)
    status = named ? show(&common, &one, r.peaks, out.stream, &all, &error)
                   : show_all(&common, r.peaks, out.stream, &all, absent, &error);
  if (!status && absent[0]) cli_note(&common, verb, "no GPU: %s", absent);
  if (!status && common.json)
    status = cli_results_json(&out,
                              lab_object("{s:s, s:O, s:s?}", "verb", verb, "devices", all,
                                         "cuda_absent", absent[0] ? absent : NULL),
                              &error);
  if (!status) status = file_replace_commit(&out, &error);
  file_replace_abandon(&out);
  json_decref(all);
  return cli_end(verb, &error);
}
