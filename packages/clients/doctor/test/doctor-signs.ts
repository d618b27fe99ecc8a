import type { Examiner } from '../src/checks/examiner.ts'
import type { AccountSign } from '../src/signs/account-signs.ts'
import type { ClusterSigns, Right } from '../src/signs/cluster-signs.ts'
import type { Denied } from '../src/signs/guarded-reads.ts'
import type { InstalledPod } from '../src/signs/installed-signs.ts'
import type { PolicySign } from '../src/signs/policy-signs.ts'
import type { RolloutSign } from '../src/signs/rollout-signs.ts'

/** Time of all signs. */
export const NOW_MS = Date.parse('2026-03-04T12:00:00Z')
/** The command line. */
export const command: Examiner = { name: 'this command', machine: 'this machine', version: '0.1.0', needsRights: true }
/** A sign that the user may not read. */
export const denied: Denied = { who: 'you', denied: { verb: 'list', group: 'example', resource: 'things' } }

/** A cluster on which nothing is wrong. */
export const well: ClusterSigns = {
  server: 'https://10.0.0.1:6443 (context production)',
  version: { major: '1', minor: '34', gitVersion: 'v1.34.2' },
  served: { 'rollouts.rollouts.kruise.io': true, 'batchreleases.rollouts.kruise.io': true, 'releasepolicies.tranche.dev': true },
  schemaGap: null,
  rights: rights(true),
  rightsNamespace: 'demo',
  leaseNamespace: 'kube-system',
  leader: { holder: 'tranche-7d9_controller', renewedMs: NOW_MS - 2_000, lengthMs: 15_000 },
  rollouts: [rolloutSign()],
  policies: { policies: [policySign()], left: 0 },
  rolloutNamespaces: null,
  daemonSets: [],
  leftWork: null,
  kruise: { webhook: false, lease: null },
  admission: ['tranche-daemonsets'],
  installed: [pod('controller'), pod('controller'), pod('executor'), pod('api')],
  accounts: [account('tranche-controller', 'controller'), account('tranche-api', 'api')],
  podPolicies: [],
  releases: [],
  webhooks: [],
  redis: { kind: 'asked', of: '', problem: null, advice: null },
  skewMs: 300,
  nowMs: NOW_MS,
}

/** A pod of the chart. */
export function pod(component: InstalledPod['component'], more: Partial<InstalledPod> = {}): InstalledPod {
  const where = { namespace: 'tranche-system', account: `tranche-${component}`, args: [component] }
  return { component, ...where, version: '0.1.0', isReady: true, redis: null, ...more }
}

/** A Rollout that our controller has answered. */
export function rolloutSign(more: Partial<RolloutSign> = {}): RolloutSign {
  const good = { lacksSpec: false, isAnswered: true, isLeaving: false, hasUnversionedConfig: false, isUnpinned: false }
  return { namespace: 'demo', name: 'node-agent', workload: 'node-agent', policy: '', ...good, ...more }
}

/** A ReleasePolicy that a Rollout names, and that can be used. */
export function policySign(more: Partial<PolicySign> = {}): PolicySign {
  const good = { denied: null, exists: true, problems: '', unusable: '' }
  return { namespace: 'demo', name: 'careful', rollouts: [{ namespace: 'demo', name: 'node-agent' }], ...good, ...more }
}

function rights(allowed: boolean): readonly Right[] {
  return [
    { verb: 'list', resource: 'rollouts.rollouts.kruise.io', needed: true, allowed },
    { verb: 'patch', resource: 'daemonsets.apps', needed: false, allowed },
  ]
}

function account(name: string, component: InstalledPod['component'], missing: AccountSign['missing'] = []): AccountSign {
  return { account: `tranche-system/${name}`, components: [component], asked: 20, missing }
}

/** One on which much is. */
export const ill: ClusterSigns = {
  ...well,
  version: { major: '1', minor: '24', gitVersion: 'v1.24.0' },
  served: { ...well.served, 'releasepolicies.tranche.dev': false },
  rights: rights(false),
  leader: { holder: 'tranche-7d9_controller', renewedMs: NOW_MS - 600_000, lengthMs: 15_000 },
  leftWork: {
    nodes: [
      { name: 'node-1', isCordoned: true },
      { name: 'node-2', isCordoned: true },
      { name: 'node-3', isCordoned: false },
    ],
    helpers: [{ namespace: 'demo', name: 'node-agent-pull-1' }],
    leases: [{ namespace: 'tranche-system', name: 'tranche-group.demo.agents' }],
  },
  kruise: { webhook: true, lease: { holder: 'kruise-rollout-5c', renewedMs: NOW_MS - 3_000, lengthMs: 15_000 } },
  admission: [],
  accounts: [account('tranche-executor', 'executor', [{ verb: 'delete', group: '', resource: 'pods' }])],
  installed: [pod('controller'), pod('executor', { version: '0.4.0', isReady: false })],
  redis: { kind: 'asked', of: '', problem: { message: 'redis.example:6379 does not answer', fix: 'Check that it runs.' }, advice: null },
  skewMs: -95_000,
}
