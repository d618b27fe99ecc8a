import type { Mutant } from './mutant.ts'

const groupRules = 'packages/core/planner/src/release/progress/group-rules.ts'
const needsGroup = 'packages/core/planner/src/release/progress/needs-group.ts'
const planGroup = 'packages/core/planner/src/release/plan-group.ts'
const planBatchRelease = 'packages/core/planner/src/release/plan-batch-release.ts'
const releaseStatus = 'packages/core/planner/src/release/release-status.ts'
const groupView = 'packages/core/planner/src/release/view/group-view.ts'
const freeGroup = 'packages/shells/controllers/src/free-group.ts'
const groupPort = 'apps/controller/src/ports/group-port.ts'

const sweepGroups = 'apps/controller/src/sweep-groups.ts'

const groupTests = 'packages/core/planner/test/release/plan-group.test.ts'
const freeGroupTests = 'packages/shells/controllers/test/free-group.test.ts'
const groupProperties = 'packages/shells/controllers/test/groups.property.test.ts'
const groupScenarios = 'test/scenarios/groups.test.ts'

/** Faults in the rules of groups. */
export const mutantsOfGroups: readonly Mutant[] = [
  {
    rule: 'G6',
    fault: 'a status that names the group of another namespace as its Lease delays that group',
    file: 'packages/clients/cluster/src/cache/releases-of-group.ts',
    find: "lease === undefined || lease.includes('/')",
    replace: 'lease === undefined',
    tests: ['packages/clients/cluster/test/cluster-cache.test.ts'],
  },
  {
    rule: 'G9',
    fault: 'a status that names no Lease of a group makes every pass of its release fail',
    file: groupPort,
    find: 'known !== undefined && isGroupLeaseName(known) ? known : wanted',
    replace: 'known ?? wanted',
    tests: ['apps/controller/test/group-port.test.ts', groupScenarios],
  },
  {
    rule: 'G9',
    fault: 'a Lease that the API server fails to read makes every pass of its release fail',
    file: groupPort,
    find: 'if (!(error instanceof KubeStatusError)) throw error',
    replace: 'if (!isForbidden(error)) throw error',
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G13',
    fault: 'the Lease of before is used after the right to read it was lost',
    file: groupPort,
    find: 'ageMs >= OUTAGE_MS || !isOutage(error)) throw error',
    replace: 'ageMs >= OUTAGE_MS) throw error',
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G13',
    fault: 'the Lease of before is used for as long as an outage lasts',
    file: groupPort,
    find: 'kept === undefined || ageMs >= OUTAGE_MS ||',
    replace: 'kept === undefined ||',
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G6',
    fault: 'a short outage of Leases closes the records of all releases in groups',
    file: groupPort,
    find: 'kept === undefined || ageMs >= OUTAGE_MS ||',
    replace: 'kept === undefined || ageMs >= KEPT_MS ||',
    tests: ['apps/controller/test/group-port.test.ts', groupScenarios],
  },
  {
    rule: 'G9',
    fault: 'a status keeps a name of a Lease that is none',
    file: releaseStatus,
    find: 'if (known === undefined || isGroupLeaseName(known)) return {}',
    replace: "if (known !== '-') return {}",
    tests: [groupTests],
  },
  {
    rule: 'G9',
    fault: 'any text with the prefix counts as the name of a Lease',
    file: groupView,
    find: '(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){1,2}$/',
    replace: '/',
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G13',
    fault: 'a sweep takes the Lease of a release that exists',
    file: sweepGroups,
    find: 'holder === null || (await groups.readHolder(holder, signal)) !== undefined',
    replace: 'holder === null',
    tests: ['apps/controller/test/sweep-groups.test.ts'],
  },
  {
    rule: 'G13',
    fault: 'a forged status keeps a group waiting for ever',
    file: groupRules,
    find: 'isInFlight(member) ? isInCharge || isPatient :',
    replace: 'isInFlight(member) ? true :',
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a release counts as in control of any DaemonSet',
    file: groupPort,
    find: 'return isInCharge({ release }, overlay',
    replace: 'return undefined !== (overlay',
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G13',
    fault: 'releases of other namespaces that share the group are not found',
    file: groupPort,
    find: 'groups?.shared.includes(namespace) === true ? groups.shared : [namespace]',
    replace: '[namespace]',
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G13',
    fault: 'a release opens without the Lease of its group',
    file: groupRules,
    find: 'return isHeldBy(group.lease, release) && !isLeaving(group.lease)',
    replace: 'return isHeldBy(group.lease, release) || !isLeaving(group.lease)',
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a release opens with a Lease that it gives up',
    file: groupRules,
    find: 'return isHeldBy(group.lease, release) && !isLeaving(group.lease)',
    replace: 'return isHeldBy(group.lease, release)',
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a release gives the group up while it has nodes in flight',
    file: groupRules,
    find: "record === undefined || (record.state === 'stopped' && record.permits.length === 0)",
    replace: "record === undefined || record.state === 'stopped'",
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a release without a DaemonSet keeps the group for ever',
    file: planGroup,
    find: ' || (daemonSet === undefined && lacksWorkload(release))',
    replace: '',
    tests: [groupScenarios],
  },
  {
    rule: 'G9',
    fault: 'a release leaves its group before it is stopped',
    file: planGroup,
    find: "if (wanted.kind === 'stop' && !isStopped(release)) return null",
    replace: '',
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a release keeps the group after a failure on a node that it had left',
    file: planGroup,
    find: ' && !isAfterEnd(view.release)',
    replace: '',
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a failed release gives the group up',
    file: planGroup,
    find: ' && !isFailed(view, wanted)',
    replace: '',
    tests: [groupTests],
  },
  {
    rule: 'G6',
    fault: 'a waiting release marks the Lease of a holder that needs the group, each time that this one takes the mark off',
    file: freeGroup,
    find: 'if (!isOwn && member?.wanted === name) return recheckAfter(LEAVING_RECHECK_MS)',
    replace: '',
    tests: [freeGroupTests],
  },
  {
    rule: 'G13',
    fault: 'a Lease passes on although the record of its holder was not written again',
    file: freeGroup,
    find: 'if (record !== undefined && !(await cluster.writeRecord(member.release, withHolds(record, record.holds), signal)))',
    replace: 'if (record === null)',
    tests: [freeGroupTests, groupProperties],
  },
  {
    rule: 'G13',
    fault: 'a Lease passes on without the mark',
    file: freeGroup,
    find: 'if (!isLeaving(lease)) {',
    replace: 'if (isLeaving(lease) && signal.aborted) {',
    tests: [freeGroupTests, groupProperties],
  },
  {
    rule: 'G13',
    fault: 'a Lease passes on whatever its holder does',
    file: freeGroup,
    find: 'member !== undefined && !mayLeaveGroup(member.release, member.wanted, name)',
    replace: 'member === null',
    tests: [freeGroupTests, groupProperties],
  },
  {
    rule: 'G13',
    fault: 'a record opens though the group is not held, where the wait for it ends otherwise',
    file: planBatchRelease,
    find: '  if (!mayOpen(view)) return null\n',
    replace: '',
    tests: [groupTests],
  },
  {
    rule: 'G6',
    fault: 'a release that waits for a dead node keeps the group',
    file: needsGroup,
    find: "return isOverButForNodesLeft(view, progress) && view.release.status?.waiting?.reason === 'NodesLeft'",
    replace: "return isOverButForNodesLeft(view, progress) && view.release.status?.waiting?.reason === 'Nothing'",
    tests: [groupTests, groupScenarios],
  },
  {
    rule: 'G6',
    fault: 'the last in line takes the group first',
    file: groupRules,
    find: 'return a[1] === b[1] ? a[2] < b[2] : a[1] < b[1]',
    replace: 'return a[1] === b[1] ? a[2] < b[2] : a[1] > b[1]',
    tests: [groupTests],
  },
  {
    rule: 'G13',
    fault: 'a Lease is deleted in whatever version',
    file: groupPort,
    find: 'preconditions: { uid, resourceVersion }',
    replace: "preconditions: { uid }, ...(resourceVersion === '' && { resourceVersion })",
    tests: ['apps/controller/test/group-port.test.ts'],
  },
  {
    rule: 'G6',
    fault: 'a release loses its place in line when the cause of its wait for the group changes',
    file: 'packages/core/planner/src/release/waiting-for.ts',
    find: '(isGroupWait(before?.reason) && isGroupWait(now.reason))',
    replace: '(isGroupWait(before?.reason) && now.reason === before?.reason)',
    tests: [groupTests],
  },
  {
    rule: 'Words',
    fault: 'a group that a foreign program holds is reported as busy with another release',
    file: 'packages/core/planner/src/release/progress/group-text.ts',
    find: "reason: 'GroupLocked', message",
    replace: "reason: 'GroupBusy', message",
    tests: [groupTests],
  },
]
