/* The C interface: proposing points (vn_ask_tell) and calling a server (vn_client). Link libvernier.so.
 *
 *   vn_error* error = NULL;
 *   vn_ask_tell* study = NULL;
 *   vn_trials* asked = NULL;
 *   double lr = 0;
 *   if (vn_ask_tell_new("objective: {minimize: loss}\nparameters: {lr: {float: [0, 1]}}\n", &study, &error) != VN_OK ||
 *       vn_ask_tell_ask(study, 1, &asked, &error) != VN_OK ||
 *       vn_trials_double(asked, 0, "lr", &lr, &error) != VN_OK) {
 *     fprintf(stderr, "%s\n", vn_error_message(error));
 *   }
 *
 * Errors: a call that can fail returns VN_OK or an error code. If `error` is not NULL, the call sets *error to NULL on
 * success, and otherwise to a vn_error that the caller frees with vn_error_free. A failed call does not write to its other
 * results. No exception leaves a call.
 *
 * Memory: free a handle with the function named after it, which accepts NULL. Text that a handle returns is valid until the
 * handle is freed. Text is UTF-8 and ends with a zero byte.
 *
 * Threads: a vn_client may be used by several threads at once, a vn_ask_tell by one at a time. vn_trials and vn_error never
 * change. */
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

/* Error codes, equal to those of gRPC. */
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

/* Returns the version of the library, "0.1.0". A constant; do not free it. */
VN_API const char* vn_version(void);

/* --- errors --- */

/* VN_OK if `error` is NULL. */
VN_API vn_code vn_error_code(const vn_error* error);
/* One sentence for users. */
VN_API const char* vn_error_message(const vn_error* error);
/* The field of the study file or of the call that caused the error, "parameters.lr.float"; "" if no field did. */
VN_API const char* vn_error_field(const vn_error* error);
/* The reason, for programs: "TRIAL_FINISHED", "SPACE_EXHAUSTED"; "" if there is none. */
VN_API const char* vn_error_reason(const vn_error* error);
VN_API void vn_error_free(vn_error* error);

/* --- lists of trials --- */

VN_API size_t vn_trials_count(const vn_trials* trials);
/* The number of the trial at `index`; 0 if there is no such trial. */
VN_API int64_t vn_trials_number(const vn_trials* trials, size_t index);
/* "RUNNING", "COMPLETED"; "" if there is no trial at `index`. */
VN_API const char* vn_trials_state(const vn_trials* trials, size_t index);
/* All parameters, and all final metrics, of the trial at `index` as JSON objects: {"layers":3,"lr":0.01}; "{}" if there is
 * no trial at `index`. */
VN_API const char* vn_trials_parameters(const vn_trials* trials, size_t index);
VN_API const char* vn_trials_metrics(const vn_trials* trials, size_t index);
/* Writes the value of one parameter to *value, which must not be NULL. An integer may be read as a double. A boolean is 0
 * or 1.
 * VN_NOT_FOUND: the trial has no such parameter, or there is no trial at `index`. VN_INVALID_ARGUMENT: the parameter has
 * another type. */
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

/* --- ask and tell: points for a loop of your own, without a server and without a store --- */

/* Starts a study in memory. `study_file`: the text of a study file; objectives, parameters, constraints, algorithm and seed
 * are used, the rest is ignored. Equal files and equal calls give equal points.
 * VN_INVALID_ARGUMENT: the error names the field. */
VN_API vn_code vn_ask_tell_new(const char* study_file, vn_ask_tell** result, vn_error** error);
/* Returns `count` new points, each as a trial in the state "RUNNING". Returns fewer if the space has no more.
 * VN_OUT_OF_RANGE: the space has no point left. */
VN_API vn_code vn_ask_tell_ask(vn_ask_tell* study,
                               size_t count,
                               vn_trials** result,
                               vn_error** error);
/* Completes the trial with this number. `values`: one for each objective, then the slack of each outcome constraint (0 or
 * more if the trial satisfies it, negative if not), both in the order of the study file. NaN is allowed.
 * VN_NOT_FOUND: the trial was never asked. VN_FAILED_PRECONDITION: it was told already. VN_INVALID_ARGUMENT: `count` is
 * wrong. */
VN_API vn_code vn_ask_tell_tell(
    vn_ask_tell* study, int64_t trial, const double* values, size_t count, vn_error** error);
/* Ends a trial that failed and has no values. Errors: VN_NOT_FOUND and VN_FAILED_PRECONDITION as above. */
VN_API vn_code vn_ask_tell_fail(vn_ask_tell* study, int64_t trial, vn_error** error);
/* Returns the Pareto-optimal trials so far; with one objective, the best trial. The list may be empty. */
VN_API vn_code vn_ask_tell_best(vn_ask_tell* study, vn_trials** result, vn_error** error);
VN_API void vn_ask_tell_free(vn_ask_tell* study);

/* --- client of a server --- */

/* Makes a client; the first call connects. `address`: "127.0.0.1:7117", "unix:/run/vernier.sock". `name`: the name of the
 * worker, not empty. Trials are leased to the name; give each worker its own.
 * The calls below block until the answer is there, 30 seconds at most. They are tried again if the server is unreachable for
 * a moment; a change is still made only once. Their errors are those of the server, and VN_UNAVAILABLE: no server there;
 * VN_DEADLINE_EXCEEDED: no answer in time; VN_NOT_FOUND: there is no such study or trial. */
VN_API vn_code vn_client_new(const char* address,
                             const char* name,
                             vn_client** result,
                             vn_error** error);
/* Creates a study under the name in the study file.
 * VN_INVALID_ARGUMENT: the error names the field of the study file. VN_ALREADY_EXISTS: the name is taken. */
VN_API vn_code vn_client_create_study(vn_client* client, const char* study_file, vn_error** error);
/* Sets *state to "ACTIVE", "COMPLETED", "FAILED" or another state: a constant, not to be freed. */
VN_API vn_code vn_client_study_state(vn_client* client,
                                     const char* study,
                                     const char** state,
                                     vn_error** error);
/* Stops the study and its trials. `reason` is for users; it may be "" or NULL. */
VN_API vn_code vn_client_stop_study(vn_client* client,
                                    const char* study,
                                    const char* reason,
                                    vn_error** error);
/* Removes the study with its trials. `force`: 1 to do so even if trials of it are running, 0 for VN_FAILED_PRECONDITION. */
VN_API vn_code vn_client_delete_study(vn_client* client,
                                      const char* study,
                                      int force,
                                      vn_error** error);
/* Lists trials. `filter`: "state = COMPLETED AND metrics.loss < 0.1". `order_by`: "metrics.loss, number". Both may be "" or
 * NULL. `limit`: the largest number of trials; 0 for no limit. */
VN_API vn_code vn_client_list_trials(vn_client* client,
                                     const char* study,
                                     const char* filter,
                                     const char* order_by,
                                     int64_t limit,
                                     vn_trials** result,
                                     vn_error** error);
/* Returns 1 to `count` trials that are leased to this client: first those it has already, then those whose lease expired,
 * then new ones.
 * VN_RESOURCE_EXHAUSTED, VN_OUT_OF_RANGE: there are no more, or not now; vn_error_reason says why. */
VN_API vn_code vn_client_suggest(
    vn_client* client, const char* study, int32_t count, vn_trials** result, vn_error** error);
/* The calls below are about the trial at `index` of a list that vn_client_suggest returned.
 * VN_ABORTED (LEASE_LOST): the trial was leased to another client; stop working on it. */
/* Reports the metrics of one step, and renews the lease. `metrics`, `values`: `count` names and their values. Sets
 * *should_stop to 1 if the trial should end now, otherwise to 0; it may be NULL. */
VN_API vn_code vn_client_report(vn_client* client,
                                const vn_trials* trials,
                                size_t index,
                                int64_t step,
                                const char* const* metrics,
                                const double* values,
                                size_t count,
                                int* should_stop,
                                vn_error** error);
/* Renews the lease of a trial that reports nothing for longer than the lease lasts. */
VN_API vn_code vn_client_heartbeat(vn_client* client,
                                   const vn_trials* trials,
                                   size_t index,
                                   vn_error** error);
/* Completes the trial. The metrics must have a value for every objective; with `count` 0, the last reports count. */
VN_API vn_code vn_client_complete(vn_client* client,
                                  const vn_trials* trials,
                                  size_t index,
                                  const char* const* metrics,
                                  const double* values,
                                  size_t count,
                                  vn_error** error);
/* Ends the trial without values. Trying the point again might succeed. `message` may be NULL. */
VN_API vn_code vn_client_fail(vn_client* client,
                              const vn_trials* trials,
                              size_t index,
                              const char* message,
                              vn_error** error);
/* Ends the trial without values: the point cannot be evaluated, and trying it again would not help. */
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
