/* rung devices: what is here, and what it can do. */
#include "cli/cli.h"
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
    .about = "Lists every device with all that is known of it.",
    .example = "rung devices --peaks",
    .common = CLI_DEVICE | CLI_THREADS | CLI_JSON | CLI_OUTPUT,
    .device_help = "only this one: cpu, cuda, cuda:<index> or sim; default: all that are here",
    .options = options,
    .take = take};

/* Where facts go as they come. */
typedef struct sink {
  FILE *text; /* NULL: into the object */
  json_t *object;
} sink;

static void emit(void *to, const char *key, const char *value) {
  sink *s = to;
  if (s->text)
    fprintf(s->text, "  %-34s %s\n", key, value);
  else
    json_object_set_new(s->object, key, json_string(value));
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
  lab_date_text(peaks->conditions.date, text);
  emit(s, "measured on", text);
  emit_rate(s, "load when measured", peaks->conditions.load, "tasks per processor");
}

/* Measured now, or where that was done before: what is known. */
static rung_status show_peaks(const cli_common *common, const char *name, bool measure, sink *s,
                              rung_error *error) {
  rung_context *context;
  lab_peaks peaks = {0};
  rung_status status = cli_open(common, name, &context, error);
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

static rung_status show(const cli_common *common, const char *name, bool measure, FILE *to,
                        json_t *all, rung_error *error) {
  rung_device device;
  rung_status status = rung_find_device(name, &device, error);
  if (status) return status;
  sink s = {.text = common->json ? NULL : to, .object = json_object()};
  if (s.text)
    fprintf(to, "%s%s: %s%s\n", cli_colour(to, CLI_BOLD), name, device.name,
            cli_colour(to, CLI_PLAIN));
  status = rung_backends[device.kind]->facts(device.index, emit, &s, error);
  if (!status && device.kind != RUNG_SIM) status = show_peaks(common, name, measure, &s, error);
  if (!status && common->json)
    json_array_append_new(
        all, json_pack("{s:s, s:s, s:O}", "device", name, "name", device.name, "facts", s.object));
  json_decref(s.object);
  return status;
}

int verb_devices(int argc, char **argv) {
  request r = {0};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  cli_devices devices = {0};
  file_replace out = {0};
  json_t *all = json_array();
  rung_status status = cli_devices_of(common.device, &devices, &error);
  if (!status) status = cli_results_begin(&out, &common, &error);
  for (int i = 0; !status && i < devices.count; i++)
    status = show(&common, devices.names[i], r.peaks, out.stream, all, &error);
  if (!status && !common.device && rung_backends[RUNG_SIM])
    status = show(&common, "sim", false, out.stream, all, &error);
  if (!status && devices.absent[0]) cli_note(&common, verb, "no GPU: %s", devices.absent);
  if (!status && common.json)
    status = cli_results_json(&out,
                              json_pack("{s:s, s:O, s:s?}", "verb", verb, "devices", all,
                                        "cuda_absent", devices.absent[0] ? devices.absent : NULL),
                              &error);
  if (!status) status = file_replace_commit(&out, &error);
  file_replace_abandon(&out);
  json_decref(all);
  return cli_end(verb, &error);
}
