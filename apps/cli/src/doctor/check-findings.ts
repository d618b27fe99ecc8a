import { KRUISE_LEASE_NAME } from '@tranche/cluster'
import { LEASE_NAME } from '@tranche/controller'
import { durationText } from '../view/duration-text.ts'
import { accountFindings } from './check-accounts.ts'
import { executorFinding, redisFinding, versionsFinding } from './check-installed.ts'
import { leftFindings } from './check-left.ts'
import { webhookFindings } from './check-webhooks.ts'
import type { ClusterSigns, LeaseSign, Right } from './cluster-signs.ts'
import type { DoctorFinding } from './finding.ts'

/** The oldest minor version of Kubernetes 1 that Tranche is meant for; docs/operations/support.md says with which it was tried. */
const OLDEST_MINOR = 28
/** Clocks may differ so much (ms) before Leases are misread; the header that we compare with counts whole seconds. */
const MOST_SKEW_MS = 5_000
/** A Lease of OpenKruise that is older than this many of its own lengths is held by nobody. */
const LEASES_UNTIL_GONE = 2

/**
 * What the signs mean, and how to mend what is wrong. Pure.
 *
 * @param own version of this command
 */
export function checkFindings(signs: ClusterSigns, own: string): readonly DoctorFinding[] {
  const leader = leaderFinding(signs)
  return [
    serverFinding(signs),
    ...resourceFindings(signs),
    rightsFinding(signs.rights),
    ...accountFindings(signs),
    leader,
    ...leftFindings(signs, leader.state !== 'problem'),
    clockFinding(signs),
    kruiseFinding(signs),
    admissionFinding(signs),
    ...webhookFindings(signs),
    executorFinding(signs),
    versionsFinding(signs, own),
    redisFinding(signs),
  ]
}

function serverFinding({ version, server, context }: ClusterSigns): DoctorFinding {
  const where = `${server} (context ${context})`
  const minor = Number.parseInt(version.minor, 10)
  if (version.major === '1' && minor < OLDEST_MINOR)
    return {
      check: 'server',
      state: 'problem',
      message: `${where} runs Kubernetes ${version.gitVersion}`,
      fix: `Bring the cluster to Kubernetes 1.${OLDEST_MINOR} or newer.`,
    }
  return { check: 'server', state: 'ok', message: `${where} runs Kubernetes ${version.gitVersion}` }
}

function resourceFindings({ served, schemaGap }: ClusterSigns): readonly DoctorFinding[] {
  const missing = Object.entries(served).flatMap(([name, there]) => (there ? [] : [name]))
  if (missing.length > 0)
    return [
      {
        check: 'resources',
        state: 'problem',
        message: `the API server does not serve ${missing.join(', ')}`,
        fix: 'Apply the CustomResourceDefinitions of this version: kubectl apply --server-side -f packages/words/api-schema/crds/.',
      },
    ]
  if (schemaGap !== null)
    return [
      {
        check: 'resources',
        state: 'problem',
        message: schemaGap,
        fix: 'Apply the CustomResourceDefinitions of this version: kubectl apply --server-side -f packages/words/api-schema/crds/.',
      },
    ]
  return [{ check: 'resources', state: 'ok', message: `${Object.keys(served).join(', ')} are served with every field` }]
}

function rightsFinding(rights: readonly Right[]): DoctorFinding {
  const missing = rights.filter(({ allowed }) => !allowed)
  if (missing.length === 0) return { check: 'rights', state: 'ok', message: `you may do all ${rights.length} things that the commands do` }
  const text = missing.map(({ verb, resource }) => `${verb} ${resource}`).join(', ')
  return {
    check: 'rights',
    state: missing.some(({ needed }) => needed) ? 'problem' : 'note',
    message: `you may not ${text}`,
    fix: 'Ask whoever runs the cluster for a role with these; docs/cli.md shows one.',
  }
}

function leaderFinding({ leader, leaseNamespace, rollouts, nowMs, skewMs }: ClusterSigns): DoctorFinding {
  const name = `Lease ${leaseNamespace}/${LEASE_NAME}`
  if (leader === 'forbidden') return { check: 'controller', state: 'unknown', message: `you may not read the ${name}` }
  const start = 'Start one: tranche controller, or tranche all-in-one.'
  const gone = `After an uninstall the Lease holds nothing: kubectl delete lease ${LEASE_NAME} -n ${leaseNamespace}.`
  // One without leader election holds no Lease, and shows by its answers that it is there.
  if (leader === null && rollouts !== 'forbidden' && rollouts.length > 0 && rollouts.every(({ isAnswered }) => isAnswered))
    return {
      check: 'controller',
      state: 'ok',
      message: `there is no ${name}; every Rollout is answered, by a controller without leader election`,
    }
  if (leader === null) return { check: 'controller', state: 'problem', message: `no controller runs: there is no ${name}`, fix: start }
  if (leader.holder === '')
    return { check: 'controller', state: 'problem', message: `nobody holds the ${name}: no controller runs`, fix: `${start} ${gone}` }
  const ageMs = nowMs + (skewMs ?? 0) - leader.renewedMs
  if (ageMs > leader.lengthMs)
    return {
      check: 'controller',
      state: 'problem',
      message: `${leader.holder} holds the ${name} for ${durationText(leader.lengthMs)} at a time, and has not renewed it for ${durationText(ageMs)}: it is frozen, cut off or gone`,
      fix: `Look at the log of that process, or start another: tranche controller. ${gone}`,
    }
  return { check: 'controller', state: 'ok', message: `${leader.holder} leads; it renewed the ${name} ${durationText(ageMs)} ago` }
}

function clockFinding({ skewMs }: ClusterSigns): DoctorFinding {
  if (skewMs === null) return { check: 'clock', state: 'unknown', message: 'the API server does not say what time it is' }
  const text = `${durationText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} the API server`
  if (Math.abs(skewMs) <= MOST_SKEW_MS)
    return { check: 'clock', state: 'ok', message: 'the clocks of this machine and of the API server agree' }
  return {
    check: 'clock',
    state: 'problem',
    message: `the clock of this machine is ${text}`,
    fix: 'Let NTP set the clocks: ages that are shown here are wrong by as much.',
  }
}

function kruiseFinding({ peer, nowMs, skewMs }: ClusterSigns): DoctorFinding {
  if (peer === 'forbidden') return { check: 'peer', state: 'unknown', message: `you may not look for the Lease ${KRUISE_LEASE_NAME}` }
  if (!peer.webhook || !isHeld(peer.lease, nowMs + (skewMs ?? 0)))
    return { check: 'peer', state: 'ok', message: 'no other controller rolls out DaemonSets of apps/v1' }
  return {
    check: 'peer',
    state: 'problem',
    message: `${peer.lease?.holder ?? 'OpenKruise'} of OpenKruise rolls out DaemonSets of apps/v1 here too: no release of ours starts (PeerActive)`,
    fix: 'Stop its controller, or take its webhook for native DaemonSets away; docs/compatibility.md says how.',
  }
}

function isHeld(lease: LeaseSign | null, nowMs: number): boolean {
  return lease !== null && lease.holder !== '' && nowMs - lease.renewedMs <= lease.lengthMs * LEASES_UNTIL_GONE
}

function admissionFinding({ admission }: ClusterSigns): DoctorFinding {
  if (admission === 'forbidden')
    return { check: 'admission', state: 'unknown', message: 'you may not look for admission policies and webhooks' }
  if (admission.length > 0) return { check: 'admission', state: 'ok', message: `updates of DaemonSets are seen by ${admission.join(', ')}` }
  return {
    check: 'admission',
    state: 'note',
    message:
      'no webhook or policy of ours sees updates of DaemonSets before they are stored: unless the API server does so itself, as that of tranche dev, their strategy turns to OnDelete when a Rollout is bound',
    fix: 'Write updateStrategy.type: OnDelete into manifests that are applied again and again; tranche lint says where.',
  }
}
