import type { Mutant } from './mutant.ts'

const nodeLock = 'packages/core/drain/src/node-lock.ts'
const lockCheck = 'packages/clients/node-checks/src/lock-check.ts'
const preparedNodes = 'packages/core/fence/src/pass/prepared-nodes.ts'
const checkNodes = 'packages/shells/partition-executor/src/check-nodes.ts'

const nodeCheck = 'packages/core/fence/src/nodes/node-check.ts'
const nodeReadings = 'packages/shells/partition-executor/src/node-readings.ts'
const roomTests = 'packages/core/fence/test/pass/room.test.ts'

const lockTests = 'packages/core/drain/test/node-lock.test.ts'
const preparedTests = 'packages/core/fence/test/pass/prepared-nodes.test.ts'
const leaseTests = 'packages/clients/cluster/test/node-locks.test.ts'
const passTests = 'packages/shells/partition-executor/test/executor-pass.test.ts'
const checkTests = 'packages/clients/node-checks/test/lock-check.test.ts'
const stories = 'test/scenarios/locks.test.ts'
const storiesOfTwo = 'test/scenarios/locks-together.test.ts'

/** Faults in the Leases of nodes. */
export const mutantsOfNodeLocks: readonly Mutant[] = [
  {
    rule: 'Lock',
    fault: 'time without a question about a deletion counts as a refusal',
    file: 'packages/clients/node-checks/src/asked-deletions.ts',
    find: ' && nowMs - before.lastMs <= SILENCE_MS',
    replace: '',
    tests: ['packages/clients/node-checks/test/asked-deletions.test.ts'],
  },
  {
    rule: 'NodeLock',
    fault: 'a renewal that the API server rejects is silent',
    file: lockCheck,
    find: "if (written?.kind === 'rejected') throw new Error(`the Lease of the node cannot be renewed",
    replace: 'if (written?.kind === undefined) throw new Error(`the Lease of the node cannot be renewed',
    tests: [checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a Lease that another program deleted before a renewal counts as a missing namespace',
    file: 'packages/clients/cluster/src/leases/node-locks.ts',
    find: 'toLeaseWrite(error, before !== null)',
    replace: 'toLeaseWrite(error, this.get(wanted.node) !== null)',
    tests: [leaseTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a release holds the Lease of a node for ever whose pod cannot be deleted',
    file: 'packages/clients/node-checks/src/asked-deletions.ts',
    find: 'nowMs - fromMs >= limitMs',
    replace: 'nowMs - fromMs < 0 && limitMs > 0',
    tests: ['packages/clients/node-checks/test/lock-check.test.ts'],
  },
  {
    rule: 'NodeLock',
    fault: 'a lock whose Lease is gone stays known to the process that wrote it',
    file: 'packages/clients/cluster/src/leases/node-locks.ts',
    find: 'if (isNotFound(error)) this.#written.forget(wanted.node)',
    replace: 'if (isNotFound(error) && before === null) this.#written.forget(wanted.node)',
    tests: [leaseTests],
  },
  {
    rule: 'NodeLock',
    fault: 'what a process wrote stays known after an API server was restored from a backup',
    file: 'packages/clients/cluster/src/own-writes.ts',
    find: 'reflector.listsOf(namespace).done > list',
    replace: 'reflector.listsOf(namespace).done < list',
    tests: ['packages/clients/cluster/test/own-writes.test.ts'],
  },
  {
    rule: 'NodeLock',
    fault: 'an expired Lease keeps a node for ever',
    file: nodeLock,
    find: 'Math.abs(nowMs - renewedMs) <= durationMs',
    replace: 'renewedMs <= nowMs + durationMs',
    tests: [lockTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a renewal in the far future keeps a node for ever',
    file: nodeLock,
    find: 'Math.abs(nowMs - renewedMs) <= durationMs',
    replace: 'nowMs - renewedMs <= durationMs',
    tests: [lockTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a lock that another program took over counts as the own one',
    file: nodeLock,
    find: "program === HOLDER && namespace !== ''",
    replace: "namespace !== ''",
    tests: [lockTests],
  },
  {
    rule: 'NodeLock',
    fault: 'the Lease is taken by an old reading',
    file: nodeLock,
    find: '{ resourceVersion: before.resourceVersion }',
    replace: '{}',
    tests: [lockTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a lock is renewed without end',
    file: nodeLock,
    find: 'renewedMs - (acquiredMs ?? renewedMs) >= LONGEST_LOCK_MS',
    replace: 'renewedMs - (acquiredMs ?? renewedMs) < 0',
    tests: [lockTests, stories],
  },
  {
    rule: 'NodeLock',
    fault: 'the Lease of a removed node stays',
    file: nodeLock,
    find: "ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: nodeUid }]",
    replace: 'ownerReferences: []',
    tests: [lockTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a lock is given back, or a memory forgotten, in another version than the one that was decided on',
    file: 'packages/clients/cluster/src/leases/lease-writes.ts',
    find: 'preconditions: { uid, resourceVersion }',
    replace: "preconditions: { uid, ...(resourceVersion === '' && { resourceVersion }) }",
    tests: [leaseTests, 'packages/clients/cluster/test/node-downtimes.test.ts'],
  },
  {
    rule: 'NodeLock',
    fault: 'an executor that is behind gives back the lock of a permit that it has not seen',
    file: 'packages/clients/node-checks/src/permit-on-node.ts',
    find: 'if (compareResourceVersions(cluster.batchReleases.positionOf(release.namespace), seenAt) < 0) return false',
    replace: '',
    tests: [checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a new permit keeps the mark of the earlier one, so that a late undo takes its lock',
    file: lockCheck,
    find: 'isLockedBy(lock, locked.release, clock.nowMs()) && isFor(lock, locked)',
    replace: 'isLockedBy(lock, locked.release, clock.nowMs())',
    tests: [checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a release that was created again waits for the Leases of its predecessor',
    file: lockCheck,
    find: 'if (isOfAnother && !(await this.#freesLeft(locks, lock, signal)))',
    replace: 'if (isOfAnother)',
    tests: [checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a lock is renewed on a node that is NotReady',
    file: lockCheck,
    find: 'isReady && isHeld(lock, clock.nowMs())',
    replace: 'isReady !== null && isHeld(lock, clock.nowMs())',
    tests: [checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'two releases take one node down at the same time',
    file: lockCheck,
    find: 'isHeld(lock, clock.nowMs()) && !isLockedBy(lock, { namespace, name, uid }, clock.nowMs())',
    replace: 'isHeld(lock, clock.nowMs()) && lock.release === null',
    tests: [storiesOfTwo],
  },
  {
    rule: 'NodeLock',
    fault: 'policies of every namespace may lock nodes',
    file: lockCheck,
    find: 'locks === undefined || !isListedNamespace(trusted, namespace)',
    replace: 'locks === undefined || (trusted.length === 0 && namespace.length > 0)',
    tests: [stories],
  },
  {
    rule: 'NodeLock',
    fault: 'a node gets a permit for each attempt of a write that is rejected',
    file: lockCheck,
    find: "if (failure !== null) return blocked('NodeLockFailed', failure)",
    replace: '',
    tests: [checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a node is given back while a drain has it cordoned',
    file: preparedNodes,
    find: 'return !isLast || ',
    replace: 'return isLast || !isLast || ',
    tests: [preparedTests, stories],
  },
  {
    rule: 'NodeLock',
    fault: 'a lock is not renewed while its permit is unsettled',
    file: preparedNodes,
    find: 'return due.filter(({ node }) => unsettled.has(node))',
    replace: 'return due.filter(({ node }) => unsettled.size < 0 && unsettled.has(node))',
    tests: [preparedTests, stories],
  },
  {
    rule: 'NodeLock',
    fault: 'what was done on a node for an earlier permit lets the pod of the next one be deleted',
    file: nodeCheck,
    find: 'if (reading.permitId !== undefined && reading.permitId !== permitId(permit)) return false',
    replace: '',
    tests: [roomTests, passTests],
  },
  {
    rule: 'G5',
    fault: 'what was begun for a permit keeps its node from the next one',
    file: nodeCheck,
    find: " || (reading.check.kind === 'pending' && reading.permitId !== undefined)",
    replace: '',
    tests: [roomTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a process forgets for which permit it has checked a node',
    file: nodeReadings,
    find: 'permit !== undefined && { permitId',
    replace: 'permit === null && { permitId',
    tests: [passTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a renewal delays an undo of the same node',
    file: checkNodes,
    find: 'parts.readings.renewed',
    replace: 'parts.readings.undone',
    tests: [passTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a Lease of another namespace counts as that of the release by its uid',
    file: nodeLock,
    find: ' && lock.release.namespace === release.namespace',
    replace: '',
    tests: [leaseTests, checkTests],
  },
  {
    rule: 'NodeLock',
    fault: 'a Lease that could not be written is written again for each permit',
    file: 'packages/clients/node-checks/src/lease-access.ts',
    find: 'clock.monotonicMs() - failure.atMs < FAILED_AGAIN_MS ?',
    replace: 'clock.monotonicMs() - failure.atMs < 0 ?',
    tests: [checkTests, stories],
  },
]
