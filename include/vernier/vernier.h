/* The C interface: proposing points (vn_ask_tell) and calling a server (vn_client). Link libvernier.so.
 *
 * Every call that can fail returns VN_OK or why it failed. If `error` is not NULL, *error is then a vn_error with the
 * message, to be freed with vn_error_free; it is NULL after VN_OK. Nothing is written to the other results of a call that
 * failed. No exception leaves a call. Text is UTF-8 and ends with a zero byte.
 *
 * Handles are freed with the function named after them; each takes NULL. Text that a handle returns lives as long as the
 * handle. A vn_client may be used by many threads at once, a vn_ask_tell by one at a time. */
#ifndef VERNIER_VERNIER_H_
#define VERNIER_VERNIER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VN_API __attribute__((visibility("default")))
#else
#define VN_API
#endif

/* The numbers of gRPC's status codes. */
typedef enum vn_code {
  VN_OK = 0,
  VN_CANCELLED = 1,
  VN_UNKNOWN = 2,
  VN_INVALID_ARGUMENT = 3,
  VN_DEADLINE_EXCEEDED = 4,
  VN_NOT_FOUND = 5,
  VN_ALREADY_EXISTS = 6,
  VN_PERMISSION_DENIED = 7,
  VN_RESOURCE_EXHAUSTED = 8,
  VN_FAILED_PRECONDITION = 9,
  VN_ABORTED = 10,
  VN_OUT_OF_RANGE = 11,
  VN_UNIMPLEMENTED = 12,
  VN_INTERNAL = 13,
  VN_UNAVAILABLE = 14,
  VN_DATA_LOSS = 15,
  VN_UNAUTHENTICATED = 16
} vn_code;

typedef struct vn_error vn_error;
typedef struct vn_trials vn_trials;
typedef struct vn_ask_tell vn_ask_tell;
typedef struct vn_client vn_client;

/* "0.1.0". */
VN_API const char* vn_version(void);

/* --- errors --- */

VN_API vn_code vn_error_code(const vn_error* error);
/* One sentence for people. */
VN_API const char* vn_error_message(const vn_error* error);
/* The field of the study file or of the call that is at fault, "parameters.lr.float"; "" if it is none. */
VN_API const char* vn_error_field(const vn_error* error);
/* For programs: "TRIAL_FINISHED", "SPACE_EXHAUSTED"; "" if there is none. */
VN_API const char* vn_error_reason(const vn_error* error);
VN_API void vn_error_free(vn_error* error);

/* --- trials, a list --- */

VN_API size_t vn_trials_count(const vn_trials* trials);
/* Of the trial at `index`; 0 if there is none. */
VN_API int64_t vn_trials_number(const vn_trials* trials, size_t index);
/* "RUNNING", "COMPLETED"; "" if there is no trial at `index`. */
VN_API const char* vn_trials_state(const vn_trials* trials, size_t index);
/* The values of all parameters, and the final metrics, as JSON objects: {"layers":3,"lr":0.01}. */
VN_API const char* vn_trials_parameters(const vn_trials* trials, size_t index);
VN_API const char* vn_trials_metrics(const vn_trials* trials, size_t index);
/* One parameter. VN_NOT_FOUND: the trial has no such parameter, or there is no trial at `index`. VN_INVALID_ARGUMENT: its value is of
 * another type. A whole number may be read as a double. A boolean is 0 or 1. */
VN_API vn_code vn_trials_double(
    const vn_trials* trials, size_t index, const char* parameter, double* value, vn_error** error);
VN_API vn_code vn_trials_int(
    const vn_trials* trials, size_t index, const char* parameter, int64_t* value, vn_error** error);
VN_API vn_code vn_trials_bool(
    const vn_trials* trials, size_t index, const char* parameter, int* value, vn_error** error);
VN_API vn_code vn_trials_string(const vn_trials* trials,
                                size_t index,
                                const char* parameter,
                                const char** value,
                                vn_error** error);
VN_API void vn_trials_free(vn_trials* trials);

/* --- ask and tell: points for a loop of one's own, without a server and without a store --- */

/* `study_file`: the text of a study file, of which objectives, parameters, constraints, algorithm and seed count. Equal
 * files and equal calls give equal points. VN_INVALID_ARGUMENT: the error names the field. */
VN_API vn_code vn_ask_tell_new(const char* study_file, vn_ask_tell** result, vn_error** error);
/* `count` new points, fewer only if the space has no more. VN_OUT_OF_RANGE: it has none left. */
VN_API vn_code vn_ask_tell_ask(vn_ask_tell* study,
                               size_t count,
                               vn_trials** result,
                               vn_error** error);
/* The values of the objectives, then how far the trial keeps each outcome constraint (0 or more if it does, negative if not), both in
 * the order of the study file; NaN is possible. VN_NOT_FOUND: the trial was never asked. VN_FAILED_PRECONDITION: it was told
 * already. VN_INVALID_ARGUMENT: not one value for each. */
VN_API vn_code vn_ask_tell_tell(
    vn_ask_tell* study, int64_t trial, const double* values, size_t count, vn_error** error);
/* The trial failed and has no values. */
VN_API vn_code vn_ask_tell_fail(vn_ask_tell* study, int64_t trial, vn_error** error);
/* The trials told so far that no other one dominates; of one objective, the best. May be none. */
VN_API vn_code vn_ask_tell_best(vn_ask_tell* study, vn_trials** result, vn_error** error);
VN_API void vn_ask_tell_free(vn_ask_tell* study);

/* --- client of a server --- */

/* `address`: "127.0.0.1:7117", "unix:/run/vernier.sock". `name`: of the worker, the holder of its trials; what is held under a
 * name is handed out again to whoever asks under it. Connects with the first call. Calls are tried again while the server is
 * away for a moment; a change is made once. VN_UNAVAILABLE: no server there. */
VN_API vn_code vn_client_new(const char* address,
                             const char* name,
                             vn_client** result,
                             vn_error** error);
/* VN_INVALID_ARGUMENT: the error names the field of the study file. VN_ALREADY_EXISTS. */
VN_API vn_code vn_client_create_study(vn_client* client, const char* study_file, vn_error** error);
/* "ACTIVE", "COMPLETED", "FAILED": text that stays valid. */
VN_API vn_code vn_client_study_state(vn_client* client,
                                     const char* study,
                                     const char** state,
                                     vn_error** error);
VN_API vn_code vn_client_stop_study(vn_client* client,
                                    const char* study,
                                    const char* reason,
                                    vn_error** error);
VN_API vn_code vn_client_delete_study(vn_client* client,
                                      const char* study,
                                      int force,
                                      vn_error** error);
/* `filter`: "state = COMPLETED AND metrics.loss < 0.1". `order_by`: "metrics.loss, number". Both may be "". `limit`: 0 for no limit. */
VN_API vn_code vn_client_list_trials(vn_client* client,
                                     const char* study,
                                     const char* filter,
                                     const char* order_by,
                                     int64_t limit,
                                     vn_trials** result,
                                     vn_error** error);
/* Up to `count` trials leased to this client: those it holds, then those offered again, then new ones.
 * VN_RESOURCE_EXHAUSTED, VN_OUT_OF_RANGE: there are no more; vn_error_reason says which. */
VN_API vn_code vn_client_suggest(
    vn_client* client, const char* study, int32_t count, vn_trials** result, vn_error** error);
/* What follows is about a trial that vn_client_suggest gave, the one at `index` of `trials`.
 * VN_ABORTED (LEASE_LOST): somebody else has it by now; stop working on it. */
/* `metrics`, `values`: `count` names and their values. `should_stop`: 1 if the trial should end now. */
VN_API vn_code vn_client_report(vn_client* client,
                                const vn_trials* trials,
                                size_t index,
                                int64_t step,
                                const char* const* metrics,
                                const double* values,
                                size_t count,
                                int* should_stop,
                                vn_error** error);
/* Renews the lease, for a trial that reports nothing for long. */
VN_API vn_code vn_client_heartbeat(vn_client* client,
                                   const vn_trials* trials,
                                   size_t index,
                                   vn_error** error);
/* Without metrics (`count` 0) the last report counts. */
VN_API vn_code vn_client_complete(vn_client* client,
                                  const vn_trials* trials,
                                  size_t index,
                                  const char* const* metrics,
                                  const double* values,
                                  size_t count,
                                  vn_error** error);
VN_API vn_code vn_client_fail(vn_client* client,
                              const vn_trials* trials,
                              size_t index,
                              const char* message,
                              vn_error** error);
/* The point cannot be evaluated, and trying it again would not help. */
VN_API vn_code vn_client_mark_infeasible(vn_client* client,
                                         const vn_trials* trials,
                                         size_t index,
                                         const char* message,
                                         vn_error** error);
VN_API void vn_client_free(vn_client* client);

#ifdef __cplusplus
}
#endif

#endif /* VERNIER_VERNIER_H_ */
