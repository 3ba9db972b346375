#include "orchestrator/run.h"

#include <algorithm>
#include <thread>

#include "nemesis/disruptor.h"
#include "nemesis/engine.h"
#include "orchestrator/battleground.h"
#include "orchestrator/fault_log.h"
#include "orchestrator/faults.h"
#include "orchestrator/monitor.h"
#include "orchestrator/vacuity.h"
#include "orchestrator/workers.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

// The phases once the servers are ready: everything that is recorded.
class Experiment {
 public:
  Experiment(const RunRequest& request, Battleground& ground)
      : request_(request),
        campaign_(request.campaign),
        ground_(ground),
        fault_log_(request.folder.fault_log()) {}

  Status prepare() {
    ORDEAL_TRY_ASSIGN(workload_, campaign_.workload.entry->make(campaign_.workload.options));
    ORDEAL_TRY(ground_.set_up_objects(request_.stop));
    ORDEAL_TRY_ASSIGN(schedule_, schedule_of(campaign_, request_.seed, ground_.terrain()));
    ORDEAL_TRY(write_file(request_.folder.schedule(), schedule_yaml(schedule_)));
    ORDEAL_TRY_ASSIGN(journal_, HealJournal::open(request_.folder.journal()));
    ORDEAL_TRY_ASSIGN(recorder_, Recorder::create(request_.folder.history(), header()));
    ORDEAL_TRY(link_latest(request_.folder));
    engine_ = std::make_unique<FaultEngine>(
        ground_.cluster(), ground_.battlefield(), *journal_,
        [this](Phase phase, const FaultEvent& event, const std::string& note) {
          recorder_->record(kNemesis, phase, fault_function(event), event, note);
          fault_log_.add(recorder_->now(), phase, event, note);
          if (!note.empty()) {
            request_.console.log().warn("{} of {} on {}: {}",
                                        event.action == FaultAction::heal ? "healing" : "injection",
                                        event.fault, fault_place(event), note);
          }
        });
    return {};
  }

  // Never fails as a whole: whatever goes wrong is noted in the end, and the way back goes on.
  RunEnd perform() {
    RunEnd end;
    Workers workers(worker_plan());
    end.trouble = chaos(workers);
    end.duration = std::chrono::duration_cast<milliseconds>(recorder_->now());
    note(end, heal());
    final_operations(workers);
    note(end, recorder_->close());
    note(end, keep_executed_schedule());
    end.interrupted = request_.stop.stop_requested();
    return end;
  }

 private:
  HistoryHeader header() const {
    HistoryHeader header;
    header.campaign = campaign_.name;
    header.seed = request_.seed;
    header.command = request_.command;
    header.ordeal_version = request_.ordeal_version;
    header.facts = {{kFactTarget, ground_.version()}};
    add_facts(planned_faults(campaign_, ground_.terrain(), schedule_), header);
    return header;
  }

  WorkerPlan worker_plan() const {
    const Options& settings = campaign_.settings;
    return {*workload_,
            std::string(campaign_.workload.entry->name),
            ground_.target(),
            *recorder_,
            static_cast<std::size_t>(settings.integer("workers")),
            static_cast<std::uint64_t>(settings.integer("lead")),
            settings.real("rate"),
            Random(request_.seed).derive("workload")};
  }

  void mark(std::string_view function) {
    recorder_->record(kNemesis, Phase::info, std::string(function), Opaque{"nil"});
  }

  Status chaos(Workers& workers) {
    std::stop_source over;  // of the workers and the disruptor
    const std::stop_callback on_request(request_.stop, [&] { over.request_stop(); });
    Monitor monitor(request_.console, *recorder_, *engine_, workers,
                    campaign_.settings.duration("duration"),
                    campaign_.settings.duration("stall-after"));
    mark(kStartChaos);
    workers.start(over.get_token(), request_.stop);
    const auto start = std::chrono::steady_clock::now();
    Status disrupted;
    const ScheduleOptions schedule = schedule_options(campaign_.schedule).value();
    std::jthread disruptor([&] {
      try {
        disrupted = run_schedule(*engine_, schedule_,
                                 {.clock = steady_chaos_clock(start),
                                  .recovery = schedule.recovery,
                                  .outage_max = schedule.outage_max},
                                 over.get_token(), &begun_);
      } catch (const std::exception& error) {
        disrupted = internal_error("the disruptor ended: {}", error.what());
      }
    });
    const Status watched = monitor.watch(start, over.get_token());
    over.request_stop();
    disruptor.join();
    monitor.await_workers();
    workers.join();
    mark(kStopChaos);
    if (!watched) return watched;
    if (!disrupted && disrupted.error().kind != ErrorKind::stopped) return disrupted;
    return {};
  }

  // Healing goes on when the user asked to stop: that is what they are waiting for. Servers need
  // not be ready then, since there are no final operations either.
  Status heal() {
    Retries retries;
    retries.attempts = static_cast<int>(campaign_.settings.integer("heal-attempts"));
    request_.console.log().info("healing what is still broken");
    ORDEAL_TRY(engine_->heal_all(retries));
    const Status ready = ground_.await_ready(request_.stop);
    if (request_.stop.stop_requested()) return {};
    if (ready) ground_.check_members();
    return ready;
  }

  void final_operations(Workers& workers) {
    if (!recorder_->status()) return;
    request_.console.log().info("final operations");
    workers.run_final(request_.stop);
  }

  // What the run never came to, since it was stopped or its hosts were slow, it did not execute.
  Status keep_executed_schedule() {
    if (begun_ < schedule_.size()) {
      request_.console.log().warn("{} of {} planned faults were not reached",
                                  schedule_.size() - begun_, schedule_.size());
    }
    schedule_.resize(begun_);
    return write_file(request_.folder.schedule(), schedule_yaml(schedule_));
  }

  void note(RunEnd& end, const Status& status) {
    if (status) return;
    request_.console.log().error("{}", status.error().message);
    if (end.trouble) end.trouble = status;
  }

  const RunRequest& request_;
  const Campaign& campaign_;
  Battleground& ground_;
  FaultLog fault_log_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<HealJournal> journal_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<FaultEngine> engine_;
  std::vector<ScheduledFault> schedule_;
  std::size_t begun_ = 0;  // of the schedule
};

}  // namespace

Result<RunEnd> run_campaign(const RunRequest& request) {
  ORDEAL_TRY_ASSIGN(auto ground, Battleground::make(request));
  ORDEAL_TRY(ground->start_servers(request.stop));
  Experiment experiment(request, *ground);
  ORDEAL_TRY(experiment.prepare());
  if (request.stop.stop_requested()) return stopped();
  RunEnd end = experiment.perform();
  ground->download_logs();
  return end;
}

}  // namespace ordeal
