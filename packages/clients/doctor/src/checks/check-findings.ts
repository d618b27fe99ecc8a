import type { DoctorFinding } from '@tranche/api-schema'
import { durationText } from '@tranche/clock'
import { LEASE_NAME } from '@tranche/kube-types'
import type { ClusterSigns, LeaseSign } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import { accountFindings } from './check-accounts.ts'
import { executorFinding, redisFinding, versionsFinding } from './check-installed.ts'
import { configFindings, podPolicyFindings } from './check-config.ts'
import { leftFindings } from './check-left.ts'
import { leftWorkFindings } from './check-left-work.ts'
import { policyFindings } from './check-policies.ts'
import { webhookFindings } from './check-webhooks.ts'
import type { Examiner } from './examiner.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Oldest supported minor version of Kubernetes 1; docs/operations/support.md lists the tested versions. */
const OLDEST_MINOR = 28
/** Maximum clock skew in milliseconds; the Date header that it is compared with has a resolution of one second. */
const MOST_SKEW_MS = 5_000
/** Number of lease durations after which a Lease of OpenKruise counts as released. */
const LEASES_UNTIL_GONE = 2

/** Turns signs into findings with fixes. Pure. */
export function checkFindings(signs: ClusterSigns, examiner: Examiner): readonly DoctorFinding[] {
  const leader = leaderFinding(signs)
  return [
    serverFinding(signs),
    ...resourceFindings(signs),
    rightsFinding(signs, examiner),
    ...accountFindings(signs),
    leader,
    ...leftFindings(signs, leader.state !== 'problem'),
    ...leftWorkFindings(signs),
    ...policyFindings(signs),
    ...configFindings(signs),
    ...podPolicyFindings(signs),
    clockFinding(signs, examiner),
    kruiseFinding(signs),
    admissionFinding(signs),
    ...webhookFindings(signs),
    executorFinding(signs),
    versionsFinding(signs, examiner),
    redisFinding(signs),
  ]
}

function serverFinding({ version, server }: ClusterSigns): DoctorFinding {
  if (isDenied(version)) return notLookedAt('server', version)
  const minor = Number.parseInt(version.minor, 10)
  if (version.major === '1' && minor < OLDEST_MINOR)
    return {
      check: 'server',
      state: 'problem',
      message: `${server} runs Kubernetes ${version.gitVersion}`,
      fix: `Upgrade the cluster to Kubernetes 1.${OLDEST_MINOR} or newer.`,
    }
  return { check: 'server', state: 'ok', message: `${server} runs Kubernetes ${version.gitVersion}` }
}

function resourceFindings({ served, schemaGap }: ClusterSigns): readonly DoctorFinding[] {
  if (isDenied(served)) return [notLookedAt('resources', served)]
  const missing = Object.entries(served).flatMap(([name, there]) => (there ? [] : [name]))
  const apply = {
    fix: 'Apply the CustomResourceDefinitions of this version:',
    command: 'kubectl apply --server-side -f packages/words/api-schema/crds/',
  }
  if (missing.length > 0)
    return [{ check: 'resources', state: 'problem', message: `the API server does not serve ${missing.join(', ')}`, ...apply }]
  if (isDenied(schemaGap)) return [notLookedAt('resources', schemaGap)]
  if (schemaGap !== null) return [{ check: 'resources', state: 'problem', message: schemaGap, ...apply }]
  return [{ check: 'resources', state: 'ok', message: `${Object.keys(served).join(', ')} are served with every field` }]
}

function rightsFinding({ rights, rightsNamespace }: ClusterSigns, { needsRights }: Examiner): DoctorFinding {
  if (isDenied(rights)) return notLookedAt('rights', rights)
  const missing = rights.filter(({ allowed }) => !allowed)
  const where = rightsNamespace === '' ? 'in all namespaces' : `in namespace ${rightsNamespace}`
  if (missing.length === 0)
    return { check: 'rights', state: 'ok', message: `you have all ${rights.length} permissions that the commands need, ${where}` }
  const text = missing.map(({ verb, resource }) => `${verb} ${resource}`).join(', ')
  return {
    check: 'rights',
    state: needsRights && missing.some(({ needed }) => needed) ? 'problem' : 'note',
    message: `${where}, you may not ${text}${needsRights ? '' : ': commands without --server need that'}`,
    fix: 'Ask the cluster administrator for a role with these permissions; docs/guides/cli.md shows one.',
  }
}

function leaderFinding({ leader, leaseNamespace, rollouts, nowMs, skewMs }: ClusterSigns): DoctorFinding {
  const name = `Lease ${leaseNamespace}/${LEASE_NAME}`
  if (isDenied(leader)) return notLookedAt('controller', leader)
  const programs = 'tranche controller, or tranche all-in-one'
  const start = `Start one: ${programs}.`
  const gone = 'After an uninstall, delete the Lease:'
  const command = `kubectl delete lease ${LEASE_NAME} -n ${leaseNamespace}`
  // A controller without leader election holds no Lease, but updates the status of Rollouts.
  if (leader === null && !isDenied(rollouts) && rollouts.length > 0 && rollouts.every(({ isAnswered }) => isAnswered))
    return {
      check: 'controller',
      state: 'ok',
      message: `there is no ${name}; every Rollout is handled, so a controller runs without leader election`,
    }
  if (leader === null && !isDenied(rollouts) && rollouts.length === 0)
    return {
      check: 'controller',
      state: 'note',
      message: `unknown whether one runs: there is no ${name}, and no Rollout that a controller without leader election would handle`,
      fix: `If none runs, start one: ${programs}.`,
    }
  if (leader === null) return { check: 'controller', state: 'problem', message: `no controller runs: there is no ${name}`, fix: start }
  if (leader.holder === '')
    return {
      check: 'controller',
      state: 'problem',
      message: `no controller runs: the ${name} has no holder`,
      fix: `${start} ${gone}`,
      command,
    }
  const ageMs = nowMs + (skewMs ?? 0) - leader.renewedMs
  if (ageMs > leader.lengthMs)
    return {
      check: 'controller',
      state: 'problem',
      message: `${leader.holder} holds the ${name} for ${durationText(leader.lengthMs)} at a time, but last renewed it ${durationText(ageMs)} ago: it is frozen, disconnected or gone`,
      fix: `Check the log of that process, or start another: tranche controller. ${gone}`,
      command,
    }
  return { check: 'controller', state: 'ok', message: `${leader.holder} leads; it renewed the ${name} ${durationText(ageMs)} ago` }
}

function clockFinding({ version, skewMs }: ClusterSigns, { machine }: Examiner): DoctorFinding {
  if (isDenied(version)) return notLookedAt('clock', version)
  if (skewMs === null) return { check: 'clock', state: 'unknown', message: 'the API server does not report its time' }
  const text = `${durationText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} the API server`
  if (Math.abs(skewMs) <= MOST_SKEW_MS)
    return { check: 'clock', state: 'ok', message: `the clocks of ${machine} and of the API server agree` }
  return {
    check: 'clock',
    state: 'problem',
    message: `the clock of ${machine} is ${text}`,
    fix: 'Synchronize the clocks by NTP: ages shown here are off by that much.',
  }
}

function kruiseFinding({ kruise, nowMs, skewMs }: ClusterSigns): DoctorFinding {
  if (isDenied(kruise)) return notLookedAt('openkruise', kruise)
  if (!kruise.webhook || !isHeld(kruise.lease, nowMs + (skewMs ?? 0)))
    return { check: 'openkruise', state: 'ok', message: 'no other controller rolls out DaemonSets of apps/v1' }
  return {
    check: 'openkruise',
    state: 'problem',
    message: `${kruise.lease?.holder ?? 'OpenKruise'} of OpenKruise also rolls out DaemonSets of apps/v1 here, so Tranche starts no release (OpenKruiseActive)`,
    fix: 'Stop its controller, or remove its webhook for native DaemonSets; docs/reference/compatibility.md says how.',
  }
}

function isHeld(lease: LeaseSign | null, nowMs: number): boolean {
  return lease !== null && lease.holder !== '' && nowMs - lease.renewedMs <= lease.lengthMs * LEASES_UNTIL_GONE
}

function admissionFinding({ admission }: ClusterSigns): DoctorFinding {
  if (isDenied(admission)) return notLookedAt('admission', admission)
  if (admission.length > 0)
    return { check: 'admission', state: 'ok', message: `updates of DaemonSets are admitted by ${admission.join(', ')}` }
  return {
    check: 'admission',
    state: 'note',
    message:
      'no Tranche policy or webhook admits updates of DaemonSets: their strategy changes to OnDelete when a Rollout is bound, unless the API server itself admits them, as in tranche dev',
    fix: 'Set updateStrategy.type: OnDelete in manifests that a GitOps tool applies; tranche lint says where.',
  }
}
