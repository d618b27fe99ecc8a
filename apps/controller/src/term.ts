import { POD_POLICY_NAME } from '@tranche/admission'
import { judgeAnswer } from '@tranche/analysis'
import { createTouchValues, type WatchedCluster } from '@tranche/cluster'
import {
  createAnalysisPass,
  createNotifyPass,
  createPolicyPass,
  createReleasePass,
  createRolloutPass,
  type GroupPort,
  type JudgePort,
  type PinPort,
  type PodPolicy,
  withRefusals,
} from '@tranche/controllers'
import { noFailpoints } from '@tranche/failpoints'
import type { KubeClient } from '@tranche/kube-client'
import { observing, waiting } from '@tranche/metrics'
import type { EgressClient } from '@tranche/egress'
import { groupLeaseName, type StrategyScope } from '@tranche/planner'
import { noTracer } from '@tranche/telemetry'
import {
  createRunner,
  createThrottle,
  createWorkQueue,
  type EventRecorder,
  type Reconcile,
  type Runner,
  type WorkQueue,
} from '@tranche/reconcile'
import { createAnalysisPort } from './ports/analysis-port.ts'
import { createConfigPort } from './ports/config-port.ts'
import type { Installation } from './ports/examine-policy.ts'
import { type ConfigWatchParts, createConfigWatch } from './ports/pin/config-watch.ts'
import type { GroupSettings } from './ports/group-port.ts'
import { createMetricPort } from './ports/metric-port.ts'
import { countRecordWrites } from './metrics/count-record-writes.ts'
import { type TermQueues, exportQueueMetrics } from './metrics/export-queue-metrics.ts'
import { createNotifyPort } from './ports/notify-port.ts'
import type { ConfigKind } from '@tranche/config'
import { createPinPort } from './ports/pin/pin-port.ts'
import { createPodPolicyWatch } from './ports/pin/pod-policy-watch.ts'
import { createPolicyPort } from './ports/policy-port.ts'
import { createRefusalPort } from './ports/refusal-port.ts'
import { createReleasePort } from './ports/release-port.ts'
import { createRolloutPort } from './ports/rollout-port.ts'
import { createSchemaGates } from './schema/schema-gates.ts'
import type { SchemaWatch } from './schema/schema-watch.ts'
import { createSecretReader } from './ports/secret-reader.ts'
import type { ControllerOptions } from './start-controller.ts'
import { createGroupSweep, type GroupSweep } from './sweep-groups.ts'
import { wakeAll, wakeAtFirst, wakePinning, wakeReaders, type Woken } from './wake.ts'

/** Maximum number of concurrent passes. Those of one namespace leave some for the others: a slow one may wait for a minute. */
const PASSES: Workers = { workers: 4, atOnceOfNamespace: 2 }
/** Passes over policies. */
const POLICY_PASSES: Workers = { workers: 2, atOnceOfNamespace: 1 }
/** Concurrent notifications; most of their time is waiting for receivers that are down. */
const NOTIFICATIONS: Workers = { workers: 32, atOnceOfNamespace: 8 }

/** The reconcilers of one period of leadership. Keys are not kept between terms; each term begins with all keys. */
export interface Term {
  begin(): void
  /** Waits up to `graceMs` milliseconds for running passes. */
  end(graceMs: number): Promise<void>
  readonly woken: Woken
}

/** Dependencies that the reconcilers share. */
export interface TermParts {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly events: EventRecorder
  readonly schemas: SchemaWatch
  readonly egress: EgressClient
  /** Reason of an outage of the job queue; null while it works, and without a queue. */
  readonly queueOutage: () => string | null
}

/** Workers of a reconciler. */
interface Workers {
  readonly workers: number
  /** Maximum number of them for the keys of one namespace. */
  readonly atOnceOfNamespace: number
}

/** One reconciler: its name in logs and metrics, and its workers. */
interface Lane extends Workers {
  readonly name: string
  readonly reconcile: Reconcile
}

/** Names of the reconcilers in logs and metrics. */
export const laneNames = {
  rollout: 'rollout',
  release: 'batch-release',
  analysis: 'analysis',
  policy: 'release-policy',
  notify: 'notify',
} as const

type LaneName = keyof typeof laneNames

/**
 * Reconcilers remember what they have seen, such as since when a node is down. Each term begins without that: another process may have led
 * meanwhile, and its writes know more (G7).
 *
 * @returns a term that has not begun; it can begin and end repeatedly
 */
export function createTerm(options: ControllerOptions, parts: TermParts): Term {
  const { clock, log, metrics, tracer = noTracer } = options
  const { cluster } = parts
  // Values of touches never repeat in a process: a touch with the value of an earlier one would change nothing.
  const touchValues = { pods: createTouchValues(options.identity), copies: createTouchValues(options.identity) }
  let current: Lanes | null = null
  let runners: readonly Runner[] = []
  let queues: TermQueues<LaneName> | null = null
  if (metrics !== undefined)
    exportQueueMetrics(
      metrics,
      () => queues,
      (lane) => laneNames[lane],
    )
  const wake = (lane: LaneName, key: string): void => {
    queues?.[lane].follow(key, tracer.current())
    queues?.[lane].add(key)
  }
  const waking =
    (lane: LaneName) =>
    (key: string): void =>
      wake(lane, key)
  const wakingSoon = (lane: LaneName): ((key: string) => void) =>
    createThrottle({ clock, everyMs: () => options.countingEveryMs ?? countingEveryMs(cluster), wake: waking(lane) })
  const woken = wokenBy(waking, wakingSoon)
  return {
    woken,
    begin() {
      const begun = createLanes(options, { ...parts, touchValues }, (lane, key) => wake(lane, key))
      const { lanes, onBegin } = begun
      current = begun
      const queue = (lane: LaneName): WorkQueue => createWorkQueue({ clock, ...lanes[lane], ...waiting(metrics, lanes[lane].name) })
      const fresh = {
        rollout: queue('rollout'),
        release: queue('release'),
        analysis: queue('analysis'),
        policy: queue('policy'),
        notify: queue('notify'),
      }
      queues = fresh
      runners = (Object.keys(fresh) as LaneName[]).map((lane) =>
        createRunner({ ...lanes[lane], queue: fresh[lane], clock, log, tracer, ...observing(metrics) }),
      )
      for (const runner of runners) runner.start()
      onBegin()
      wakeAll(cluster, woken)
      wakeAtFirst(cluster, woken)
    },
    async end(graceMs) {
      queues = null
      current?.onEnd()
      current = null
      await Promise.all(runners.map((runner) => runner.stop(graceMs)))
      runners = []
    },
  }
}

/** Dependencies of one term. */
interface LaneParts extends TermParts {
  readonly touchValues: Readonly<Record<'pods' | 'copies', () => string>>
}

function wokenBy(waking: (lane: LaneName) => (key: string) => void, wakingSoon: (lane: LaneName) => (key: string) => void): Woken {
  return {
    rollout: waking('rollout'),
    release: waking('release'),
    rolloutSoon: wakingSoon('rollout'),
    releaseSoon: wakingSoon('release'),
    analysis: waking('analysis'),
    policy: waking('policy'),
    notify: waking('notify'),
  }
}

interface Lanes {
  readonly lanes: Readonly<Record<LaneName, Lane>>
  /** Starts background work of a leader. */
  readonly onBegin: () => void
  /** Stops background work of a leader, and what passes have started. */
  readonly onEnd: () => void
}

/** What the installation allows policies. */
function allowedBy(options: ControllerOptions): Omit<Installation, 'egress' | 'secrets'> {
  const { groups, room, prePull, drainNamespaces, lockNamespaces, downtime } = options
  return {
    allowsGroups: groups !== undefined,
    allowsRoom: room !== false,
    allowsPrePull: prePull !== false,
    allowsDowntime: downtime !== false,
    drainNamespaces,
    lockNamespaces,
  }
}

function createLanes(options: ControllerOptions, parts: LaneParts, wake: (lane: LaneName, key: string) => void): Lanes {
  const { clock, log, admission } = options
  const { client, cluster, events, schemas, egress } = parts
  const { wrap } = options.failpoints ?? noFailpoints
  const strategyScope: StrategyScope = admission === 'none' ? 'binding' : 'release'
  const rolloutPort = createRolloutPort({ client, cluster, strategyScope, schemas })
  const config = options.readConfig === true ? createConfigPort({ client, clock, log }) : undefined
  const pinning = pinningOf(options, parts, wake)
  const pins = pinning && { pins: wrap('pins', pinning.port), podPolicy: pinning.podPolicy, mayPinSecrets: pinning.mayPinSecrets }
  const passOverRollout = createRolloutPass({ cluster: wrap('rollout', rolloutPort), clock, events, config, ...pins })
  const secrets = createSecretReader(client)
  const podPolicy = pinning?.podPolicy ?? null
  const policyPort = createPolicyPort({ client, cluster, egress, secrets, podPolicy, ...allowedBy(options) })
  const releases = releasesOf(options, parts, strategyScope)
  const notifyPort = createNotifyPort({ client, cluster, egress, clock })
  const analysis = createAnalysisPass({
    cluster: wrap('analysis', createAnalysisPort(client, cluster)),
    metrics: wrap('metrics', createMetricPort({ egress, secrets })),
    judge: options.judge ?? judgeHere,
    clock,
    events,
    wake: (key) => wake('analysis', key),
  })
  const { settledOnly, keptOnly } = createSchemaGates(schemas)
  const sweep = sweepOf(options, cluster, releases)
  return {
    lanes: {
      rollout: {
        name: laneNames.rollout,
        reconcile: settledOnly(
          admission === 'policy' || admission === 'webhook'
            ? withRefusals(passOverRollout, createRefusalPort(client, cluster, schemas))
            : passOverRollout,
        ),
        ...PASSES,
      },
      release: {
        name: laneNames.release,
        reconcile: settledOnly(createReleasePass({ cluster: releases, clock, events })),
        ...PASSES,
      },
      analysis: { name: laneNames.analysis, reconcile: keptOnly(analysis.reconcile), ...PASSES },
      policy: { name: laneNames.policy, reconcile: createPolicyPass({ cluster: wrap('policy', policyPort), clock }), ...POLICY_PASSES },
      notify: {
        name: laneNames.notify,
        reconcile: keptOnly(createNotifyPass({ cluster: wrap('notify', notifyPort), clock })),
        ...NOTIFICATIONS,
      },
    },
    onBegin() {
      sweep?.begin()
      pinning?.begin()
    },
    onEnd() {
      pinning?.end()
      sweep?.end()
      analysis.stop()
    },
  }
}

interface Pinning {
  readonly port: PinPort
  readonly podPolicy: PodPolicy
  /** Watches from now on. */
  begin(): void
  end(): void
  readonly mayPinSecrets: (namespace: string) => boolean
}

/** Kinds of objects that the installation lets the controller copy. */
function pinnableKinds({ pinConfig, pinSecretNamespaces = [] }: ControllerOptions, namespace: string): readonly ConfigKind[] {
  if (pinConfig !== true) return []
  return pinSecretNamespaces.some((one) => one === '*' || one === namespace) ? ['ConfigMap', 'Secret'] : ['ConfigMap']
}

/** Undefined where the installation does not allow it. */
function pinningOf(
  options: ControllerOptions,
  { client, cluster, touchValues }: LaneParts,
  wake: (lane: LaneName, key: string) => void,
): Pinning | undefined {
  const { pinConfig, clock, log, seed = 0 } = options
  if (pinConfig !== true) return undefined
  const kinds = (namespace: string): readonly ConfigKind[] => pinnableKinds(options, namespace)
  const onChange: ConfigWatchParts['onChange'] = (...change) => wakeReaders(cluster, (key) => wake('rollout', key), change)
  const watch = createConfigWatch({ client, clock, log, seed, kinds, onChange })
  const { overlay } = cluster
  const woken = { rollout: (key: string) => wake('rollout', key), policy: (key: string) => wake('policy', key) }
  const name = options.podPolicy ?? POD_POLICY_NAME
  const podPolicy = createPodPolicyWatch({ client, clock, log, seed, name, onChange: () => wakePinning(cluster, woken) })
  return {
    podPolicy,
    begin() {
      watch.begin()
      podPolicy.begin()
    },
    end() {
      watch.end()
      podPolicy.end()
    },
    mayPinSecrets: (namespace) => kinds(namespace).includes('Secret'),
    port: createPinPort({ client, watch, kinds, uniqueValue: touchValues.copies, salt: () => crypto.randomUUID(), overlay }),
  }
}

function releasesOf(options: ControllerOptions, parts: LaneParts, strategyScope: StrategyScope): ReturnType<typeof createReleasePort> {
  const { client, cluster, schemas, queueOutage, touchValues } = parts
  const { clock, groups, metrics, failpoints = noFailpoints } = options
  const port = createReleasePort({ client, cluster, clock, strategyScope, schemas, uniqueValue: touchValues.pods, queueOutage, groups })
  return failpoints.wrap('release', countRecordWrites(port, metrics))
}

/** Undefined where the installation allows no groups. */
function sweepOf({ groups, clock, log }: ControllerOptions, cluster: WatchedCluster, port: GroupPort): GroupSweep | undefined {
  return groups && createGroupSweep({ groups: port, names: () => groupsOfPolicies(cluster, groups), clock, log })
}

/** Names of the Leases of all groups that policies name. */
function groupsOfPolicies({ policies }: WatchedCluster, { shared }: GroupSettings): ReadonlySet<string> {
  const names = policies.store.list().flatMap(({ metadata: { namespace = '' }, spec }) => {
    const group = spec.downtime?.group
    return group === undefined ? [] : [groupLeaseName(group, namespace, shared.includes(namespace))]
  })
  return new Set(names)
}

const judgeHere: JudgePort = { judge: async (_namespace, judged) => judgeAnswer(judged) }

/** Minimum interval of passes that only update counts, in milliseconds: 100; in a large fleet 1 per 20 nodes, at most 500. */
function countingEveryMs({ nodes }: WatchedCluster): number {
  return Math.min(500, Math.max(100, nodes.store.size / 20))
}
