#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/optimizer.h"
#include "vernier/storage.h"

namespace vernier {

// Which points of a trial's curve.
struct CurveQuery {
  // Only measurements that have this metric. Empty: all of them.
  std::string metric;
  // Number of points to choose at most: the first and the last, and between them the lowest and the highest value of the
  // metric (else of the first objective) in each of equal parts of the curve. 0: all points. Else at least 4.
  std::size_t max_points = 0;
  // Of those that were chosen, number to skip, and most to return; 0: no limit.
  std::size_t offset = 0;
  std::size_t limit = 0;
};

struct CurvePart {
  std::vector<Measurement> measurements;  // In the order in which they were stored.
  std::size_t chosen = 0;                 // Number of points that max_points leaves.
  std::size_t total = 0;                  // Number of points before that.
};

// A study that cannot be read: rows or events of it are damaged.
struct DamagedStudy {
  StudyId id;
  std::string name;
  absl::Status error;  // DataLoss (kDataLoss).
  absl::Time since;    // When it was met first.
};

// Studies and their trials, to look at. Nothing here changes anything.
// Thread-safe. Errors of every call: NotFound (kStudyNotFound, kTrialNotFound); DataLoss (kDataLoss): the study is damaged in
// the store.
class StudyReader {
 public:
  virtual ~StudyReader() = default;

  // --- studies ---
  virtual absl::StatusOr<Study> GetStudy(StudyId id) const = 0;
  virtual absl::StatusOr<Study> FindStudy(std::string_view name) const = 0;
  // What the name stands for, found without copying the study.
  virtual absl::StatusOr<StudyId> FindStudyId(std::string_view name) const = 0;
  // The study's definition, shared and not copied: what Amend changes of it may be older than the call.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) const = 0;
  // The definition that an attempt was started with (Attempt::defined_by), as far as its job and metrics go.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(
      StudyId id, EventSeq defined_by) const = 0;
  // All but those whose row is damaged: DamagedStudies has these.
  virtual absl::StatusOr<std::vector<Study>> ListStudies() const = 0;
  // Calls `visit` with one study after the other, in the order of ids and behind `after`, until it returns false. Holds a few
  // of them at a time: for lists of any length. Those whose row is damaged are left out, as by ListStudies.
  virtual absl::Status ScanStudies(StudyId after,
                                   const std::function<bool(Study)>& visit) const = 0;
  // What Tick, ListStudies and ScanStudies could not read, in the order of ids. The others are not affected.
  virtual std::vector<DamagedStudy> DamagedStudies() const = 0;

  // --- trials ---
  virtual absl::StatusOr<Trial> GetTrial(TrialId id) const = 0;
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) const = 0;
  // Calls `visit` with one trial after the other, in the order of the scan, until it returns false. They are read from the store
  // as of one moment during the call, which holds neither a lock nor more than one of them: for lists of any length. `visit`
  // must not call this object.
  virtual absl::Status ScanTrials(StudyId id,
                                  const TrialScan& scan,
                                  const std::function<bool(Trial)>& visit) const = 0;
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) const = 0;
  // A part of the curve, or a picture of all of it. Costs as much as the points returned, and a look at one number for
  // each of the others.
  virtual absl::StatusOr<CurvePart> ReadCurve(TrialId id, const CurveQuery& query) const = 0;
  // What the algorithm's model expects at `points` (Optimizer::Predict), from the trials that have ended. Their numbers
  // may be of either kind. Changes nothing.
  virtual absl::StatusOr<std::vector<PredictedPoint>> Predict(
      StudyId id, std::vector<Point> points, const std::stop_token& stop) const = 0;
};

}  // namespace vernier
