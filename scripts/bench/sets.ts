import type { BenchSet } from './bench-set.ts'
import { dashboardSet } from './sets/dashboard.ts'
import { failuresSet } from './sets/failures.ts'
import { forecastSet } from './sets/forecast.ts'
import { growthDaemonSetsSet, growthNodesSet, growthPodsSet, growthSet } from './sets/growth.ts'
import { memorySet } from './sets/memory.ts'
import { paceSet } from './sets/pace.ts'
import { pacedSet } from './sets/paced.ts'
import { queueSet } from './sets/queue.ts'
import { restSet } from './sets/rest.ts'
import { idleSet, scaleOutSet } from './sets/scale.ts'
import { simulatorSet } from './sets/simulator.ts'
import { soakSet } from './sets/soak.ts'
import { startSet } from './sets/start.ts'
import { suiteSet } from './sets/suite.ts'

/** All sets by name, in the order in which they run. */
export const benchSets: Readonly<Record<string, BenchSet>> = {
  pace: paceSet,
  paced: pacedSet,
  start: startSet,
  forecast: forecastSet,
  queue: queueSet,
  simulator: simulatorSet,
  failures: failuresSet,
  growth: growthSet,
  'growth-nodes': growthNodesSet,
  'growth-daemonsets': growthDaemonSetsSet,
  'growth-pods': growthPodsSet,
  idle: idleSet,
  'scale-out': scaleOutSet,
  soak: soakSet,
  rest: restSet,
  memory: memorySet,
  dashboard: dashboardSet,
  suite: suiteSet,
}
