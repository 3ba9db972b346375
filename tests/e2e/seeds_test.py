"""One seed, one sequence of operations per worker and of faults."""
from support import *


class Seeds(EndToEnd):
    def sequences(self, seed):
        done = self.run_campaign("quickstart", "--duration", "10s", "--seed", seed, "--set", "workers=4",
                                 "--set", "schedule.duration-min=1s", "--set", "schedule.duration-max=2s",
                                 "--set", "schedule.interval=500ms",
                                 "--set", "check.list-append.model=snapshot-isolation")
        self.assertIn(done.code, (VALID, UNKNOWN), str(done))
        workers, faults = {}, []
        for op in self.history():
            if op["type"] != "invoke":
                continue
            if op["process"] == "nemesis":
                if op["f"].startswith("start-") and op["f"] != "start-chaos":
                    faults.append((op["f"], json.dumps(op["value"])))
            else:
                workers.setdefault(op["process"] % 4, []).append(json.dumps(op["value"]))
        return workers, faults

    def test_same_seed_same_run(self):
        workers, faults = self.sequences(7)
        again_workers, again_faults = self.sequences(7)
        other_workers, other_faults = self.sequences(8)
        # How far the faults get is the hosts' affair: their effects are waited for.
        reached = min(len(faults), len(again_faults))
        self.assertGreater(reached, 2)
        self.assertEqual(faults[:reached], again_faults[:reached])
        self.assertNotEqual(faults[:reached], other_faults[:reached])
        for worker in range(4):
            # How far a worker gets is the database's affair, and the last operations are of the final phase.
            common = min(len(workers[worker]), len(again_workers[worker])) - 50
            self.assertGreater(common, 50)
            self.assertEqual(workers[worker][:common], again_workers[worker][:common])
            self.assertNotEqual(workers[worker][:common], other_workers[worker][:common])


if __name__ == "__main__":
    main()
