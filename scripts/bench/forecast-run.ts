/**
 * Forecasts a release on N nodes: three steps, a tenth of the nodes at a time. Prints one JSON object, {@link ForecastRun}.
 *
 *   node scripts/bench/forecast-run.ts 5000
 */
import type { ClusterSnapshot, Rollout } from '../../packages/words/api-schema/src/index.ts'
import { createSharedClusterCache } from '../../packages/clients/cluster/src/index.ts'
import { forecast } from '../../packages/harness/forecast/src/index.ts'
import type { DaemonSet, Node, Pod } from '../../packages/words/kube-types/src/index.ts'
import { startController } from '../../apps/controller/src/index.ts'
import { startExecutor } from '../../apps/executor/src/index.ts'

/** Cost of a forecast. */
export interface ForecastRun {
  readonly seconds: number
  /** Processor time of all threads. */
  readonly busySeconds: number
  /** Peak memory of the process. */
  readonly rssMebibytes: number
}

const HASH = 'aaaa'
const TAKEN_AT = '2026-01-01T12:00:00Z'
const CREATED_AT = '2026-01-01T00:00:00Z'
const labels = { app: 'agent' }
const key = { namespace: 'bench', name: 'agent' }

async function run(nodes: number): Promise<ForecastRun> {
  const snapshot = snapshotOf(nodes)
  const atStart = process.cpuUsage()
  const startMs = performance.now()
  const { outcome, nodesHit } = await forecast(
    snapshot,
    { image: 'registry.example/agent:v2' },
    { createSharedClusterCache, startController, startExecutor },
  )
  if (outcome !== 'Completes' || nodesHit !== nodes) throw new Error(`forecast ${outcome} with ${nodesHit} of ${nodes} nodes`)
  const { user, system } = process.cpuUsage(atStart)
  return {
    seconds: (performance.now() - startMs) / 1000,
    busySeconds: (user + system) / 1e6,
    rssMebibytes: process.resourceUsage().maxRSS / 1024,
  }
}

function snapshotOf(nodes: number): ClusterSnapshot {
  const names = Array.from({ length: nodes }, (_, at) => `node-${String(at + 1).padStart(5, '0')}`)
  const daemonSet = daemonSetOf(nodes)
  return {
    takenAtMs: Date.parse(TAKEN_AT),
    rollout: rolloutOf(),
    release: undefined,
    policy: undefined,
    daemonSet,
    revisions: [
      {
        metadata: {
          ...meta(`agent-${HASH}`, 5),
          namespace: key.namespace,
          labels: { ...labels, 'controller-revision-hash': HASH },
          ownerReferences,
        },
        revision: 1,
        data: { spec: { template: { $patch: 'replace', ...daemonSet.spec.template } } },
      },
    ],
    nodes: names.map((name, at) => nodeOf(name, at)),
    pods: names.map((name, at) => podOf(name, at)),
    others: [],
    unread: [],
  }
}

function meta(name: string, at: number) {
  return { name, uid: `uid-${name}`, resourceVersion: String(10_000 + at), creationTimestamp: CREATED_AT }
}

const ownerReferences = [
  { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name, uid: 'uid-agent', controller: true, blockOwnerDeletion: true },
]

const template = {
  metadata: { labels },
  spec: {
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'agent',
        image: 'registry.example/agent:v1',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
}

function daemonSetOf(nodes: number): DaemonSet {
  return {
    metadata: {
      ...meta(key.name, 1),
      namespace: key.namespace,
      generation: 2,
      labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
      annotations: {
        'deprecated.daemonset.template.generation': '1',
        'tranche.dev/rollout': key.name,
        'rollouts.kruise.io/daemonset-original-update-strategy': 'RollingUpdate',
      },
    },
    spec: {
      selector: { matchLabels: labels },
      template,
      minReadySeconds: 0,
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 } },
    },
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: nodes,
      currentNumberScheduled: nodes,
      updatedNumberScheduled: nodes,
      numberReady: nodes,
      numberAvailable: nodes,
      numberMisscheduled: 0,
    },
  } as DaemonSet
}

function rolloutOf(): Rollout {
  const steps = [{ replicas: '5%', pause: {} }, { replicas: '50%', pause: { duration: 60 } }, { replicas: '100%' }]
  return {
    metadata: { ...meta(key.name, 2), namespace: key.namespace, generation: 1 },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name }, strategy: { canary: { steps } } },
  }
}

function nodeOf(name: string, at: number): Node {
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: CREATED_AT }]
  const capacity = { cpu: '8', memory: '32Gi', pods: '110' }
  return {
    metadata: { ...meta(name, 100 + at), labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${at % 3}` } },
    spec: {},
    status: { conditions, capacity, allocatable: capacity },
  } as Node
}

function podOf(node: string, at: number): Pod {
  const created = Date.parse(CREATED_AT) + at * 1000
  const readyAt = new Date(created + 5_000 + (at % 7) * 1000).toISOString().replace('.000', '')
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: readyAt,
  }))
  const name = `agent-${String(at).padStart(5, '0')}`
  return {
    metadata: {
      ...meta(name, 20_000 + at),
      namespace: key.namespace,
      creationTimestamp: new Date(created).toISOString().replace('.000', ''),
      labels: { ...labels, 'controller-revision-hash': HASH, 'pod-template-generation': '1' },
      ownerReferences,
    },
    spec: { ...template.spec, nodeName: node },
    status: {
      phase: 'Running',
      startTime: CREATED_AT,
      conditions,
      containerStatuses: [{ name: 'agent', ready: true, restartCount: 0, state: {} }],
    },
  } as Pod
}

console.log(JSON.stringify(await run(Number(process.argv[2]))))
