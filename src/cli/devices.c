/* rung devices: what is here, and what it can do. */
#include "cli/cli.h"
#include "core/part.h"
#include "lab/lab.h"

static const char verb[] = "devices";

typedef struct request {
  bool roofs;
} request;

static const cli_option options[] = {
    {"roofs", 0, NULL, "measure the roofs anew: bandwidths and arithmetic rates (takes seconds)"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  (void)index;
  (void)value;
  (void)error;
  ((request *)to)->roofs = true;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPTION]...",
    .about = "Lists every device with all that is known of it.",
    .example = "rung devices --roofs",
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

static void emit_roofs(sink *s, const lab_roofs *roofs) {
  const struct {
    const char *key;
    double value;
    const char *unit;
  } lines[] = {{"measured read bandwidth", roofs->read, "GB/s"},
               {"measured write bandwidth", roofs->write, "GB/s"},
               {"measured copy bandwidth (both ways)", roofs->copy, "GB/s"},
               {"measured float rate", 2e-3 * roofs->fma32, "TFLOP/s"},
               {"measured double rate", 2e-3 * roofs->fma64, "TFLOP/s"}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char text[48];
    snprintf(text, sizeof text, "%.4g %s", lines[i].value, lines[i].unit);
    emit(s, lines[i].key, text);
  }
}

/* Measured now, or where that was done before: what is known. */
static rung_status show_roofs(const cli_common *common, const char *name, bool measure, sink *s,
                              rung_error *error) {
  rung_context *context;
  lab_roofs roofs;
  rung_status status = cli_open(common, name, &context, error);
  if (status) return status;
  bool known = !measure && lab_roofs_known(context, &roofs);
  if (measure) {
    cli_note(common, verb, "measuring the roofs of %s", context->device.name);
    status = lab_roofs_of(context, true, &roofs, error);
  }
  if (!status && (measure || known)) emit_roofs(s, &roofs);
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
  status = rung_backend_of(device.kind, error)->facts(device.index, emit, &s, error);
  if (!status && device.kind != RUNG_SIM) status = show_roofs(common, name, measure, &s, error);
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
    status = show(&common, devices.names[i], r.roofs, out.stream, all, &error);
  if (!status && !common.device && rung_backend_of(RUNG_SIM, NULL))
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
