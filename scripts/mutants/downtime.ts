import type { Mutant } from './mutant.ts'

const window = 'packages/core/drain/src/downtime-window.ts'
const nodeDowntime = 'packages/core/drain/src/node-downtime.ts'
const downtimeCheck = 'packages/clients/node-checks/src/downtime-check.ts'
const agentReturn = 'packages/core/drain/src/agent-return.ts'

const windowTests = 'packages/core/drain/test/downtime-window.test.ts'
const memoryTests = 'packages/core/drain/test/node-downtime.test.ts'
const leaseTests = 'packages/clients/cluster/test/node-downtimes.test.ts'
const checkTests = 'packages/clients/node-checks/test/downtime-check.test.ts'
const returnTests = 'packages/core/drain/test/agent-return.test.ts'
const stories = 'test/scenarios/downtime.test.ts'

/** Faults in the limit of downtime in a day. */
export const mutantsOfDowntime: readonly Mutant[] = [
  {
    rule: 'Downtime',
    fault: 'a sweep that is behind forgets the downtime of a deletion that it has not seen',
    file: downtimeCheck,
    find: 'if (open === null || !showsEndOf(open.permitted, memory, cluster)) return',
    replace: 'if (open === null) return',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'a pod that is seen as it was permitted counts as kept',
    file: 'packages/clients/node-checks/src/permit-on-node.ts',
    find: 'uid === podUid && resourceVersion === podResourceVersion',
    replace: 'uid === podUid && resourceVersion < podResourceVersion',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'the downtime of a permit that ended unused is not over before a later one is',
    file: downtimeCheck,
    find: 'const isStale = open !== null && this.#isUnused(open, daemonSet, node)',
    replace: 'const isStale = open === null',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'a memory of a DaemonSet that was created again keeps the Lease of its node',
    file: downtimeCheck,
    find: '.filter((one) => one.daemonSet.uid === daemonSet.metadata.uid)',
    replace: '.filter((one) => one.daemonSet.name === daemonSet.metadata.name)',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'the end of a downtime that the API server rejects is silent',
    file: downtimeCheck,
    find: "if (written?.kind === 'rejected') throw new Error(`the end of a downtime",
    replace: 'if (written?.kind === undefined) throw new Error(`the end of a downtime',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'an agent that is Ready counts as away',
    file: downtimeCheck,
    find: 'pods.some((pod) => pod.ready && !pod.terminating) === true',
    replace: 'pods.some((pod) => pod.ready && pod.terminating) === true',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'a downtime counts for ever',
    file: window,
    find: 'const sinceMs = nowMs - DOWNTIME_WINDOW_MS',
    replace: 'const sinceMs = nowMs - 100 * DOWNTIME_WINDOW_MS',
    tests: [windowTests],
  },
  {
    rule: 'Downtime',
    fault: 'downtimes that overlap count twice',
    file: window,
    find: 'if (last === undefined || next.fromMs > last.toMs)',
    replace: 'if (last === undefined || next.fromMs > last.fromMs)',
    tests: [windowTests],
  },
  {
    rule: 'Downtime',
    fault: 'the oldest downtimes are forgotten where there are too many',
    file: window,
    find: 'kept.unshift({ fromMs: second.fromMs - (first.toMs - first.fromMs), toMs: second.toMs })',
    replace: 'kept.unshift(first.toMs > nowMs ? first : second)',
    tests: [windowTests],
  },
  {
    rule: 'Downtime',
    fault: 'a node is announced to be below the limit too early',
    file: window,
    find: 'return fromMs + (countedMs - allowedMs) + DOWNTIME_WINDOW_MS + 1',
    replace: 'return fromMs + DOWNTIME_WINDOW_MS + Math.min(1, countedMs)',
    tests: [windowTests],
  },
  {
    rule: 'Downtime',
    fault: 'a second deletion forgets since when the agent has been away',
    file: nodeDowntime,
    find: 'if (open !== null && isStillAway(open, agent)) return { past, open: { fromMs: open.fromMs, permitted, wasAway: true } }',
    replace: '',
    tests: [memoryTests],
  },
  {
    rule: 'Downtime',
    fault: 'a deletion that was never sent counts',
    file: nodeDowntime,
    find: "if (agent.kind === 'stayed' && wasAway !== true) return []",
    replace: '',
    tests: [memoryTests],
  },
  {
    rule: 'Downtime',
    fault: 'a Lease with the label of another DaemonSet counts',
    file: nodeDowntime,
    find: 'if (more.length > 0 || metadata.name !== downtimeName(agent)) return null',
    replace: 'if (more.length > 0) return null',
    tests: [memoryTests],
  },
  {
    rule: 'Downtime',
    fault: 'a memory is written by an old reading',
    file: nodeDowntime,
    find: '{ resourceVersion: before.resourceVersion }',
    replace: '{}',
    tests: [memoryTests, leaseTests],
  },
  {
    rule: 'Downtime',
    fault: 'a fix waits for the downtime of the version that never started',
    file: downtimeCheck,
    find: 'if (memory === null || !this.#isAgentThere(daemonSet, node)) return null',
    replace: 'if (memory === null || this.#isAgentThere === undefined) return null',
    tests: [checkTests, stories],
  },
  {
    rule: 'Downtime',
    fault: 'a rollback waits until its downtime is below the limit',
    file: downtimeCheck,
    find: 'if (isWayBack(target.release)) return',
    replace: 'if (isWayBack(target.release) && downtimes === undefined) return',
    tests: [checkTests, stories],
  },
  {
    rule: 'Downtime',
    fault: 'a rollback is not remembered',
    file: downtimeCheck,
    find: 'await this.#remember(downtimes, target, node, signal)\n    } catch',
    replace: 'await Promise.resolve(target)\n    } catch',
    tests: [checkTests, stories],
  },
  {
    rule: 'Downtime',
    fault: 'a downtime ends while the agent is away',
    file: downtimeCheck,
    find: 'if (isStillAway(open, agent) && isDesired) return',
    replace: '',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'the memory of a DaemonSet that a watch does not show is forgotten at once',
    file: downtimeCheck,
    find: 'if (lastMs(memory) <= clock.nowMs() - DOWNTIME_WINDOW_MS) await downtimes.forget(memory, signal)',
    replace: 'if (lastMs(memory) <= clock.nowMs() + DOWNTIME_WINDOW_MS) await downtimes.forget(memory, signal)',
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'an agent counts as back by the clock of a kubelet that is behind',
    file: agentReturn,
    find: 'Math.max(stampedMs, createdMs) + minReadyMs',
    replace: 'stampedMs + minReadyMs',
    tests: [returnTests],
  },
  {
    rule: 'Downtime',
    fault: 'an agent counts as back before its new pod could be available',
    file: agentReturn,
    find: 'Math.max(stampedMs, createdMs) + minReadyMs',
    replace: 'Math.max(stampedMs + minReadyMs, createdMs)',
    tests: [returnTests],
  },
  {
    rule: 'Downtime',
    fault: 'a Lease that no watch shows is waited for without a word',
    file: downtimeCheck,
    find: "written.kind === 'taken' && !this.#taken.isTakenForLong(name)",
    replace: "written.kind === 'taken'",
    tests: [checkTests],
  },
  {
    rule: 'Downtime',
    fault: 'a downtime is forgotten if another deletion was permitted before the agent was back, and did not come',
    file: nodeDowntime,
    find: "if (agent.kind === 'stayed' && wasAway !== true) return []",
    replace: "if (agent.kind === 'stayed') return []",
    tests: [memoryTests],
  },
  {
    rule: 'Downtime',
    fault: 'a downtime that continued with a deletion that did not come ends before the agent is back',
    file: nodeDowntime,
    find: "agent.kind === 'stayed' && wasAway === true && agent.atMs === null",
    replace: "agent.kind === 'stayed' && wasAway === true && agent.atMs === 0",
    tests: [memoryTests],
  },
]
