/** Objects of a large cluster: many small DaemonSets in different states, and one on every node whose pods change all the time. */
import { type KubeClient, resourcePaths } from '../../../packages/adapters/kube-client/src/index.ts'
import { until } from '../../../scripts/bench/until.ts'

/** Size of a fleet. */
export interface FleetSize {
  readonly nodes: number
  /** Number of Rollouts, including {@link BUSY}. */
  readonly rollouts: number
  /** Changes of readiness among the pods of {@link BUSY}, per second. */
  readonly updatesPerSecond: number
}

/** Namespace of all objects. */
export const NAMESPACE = 'bench'
/** DaemonSet on every node; its pods become ready and unready in turn. */
export const BUSY = 'busy-agent'

/** Maximum number of concurrent requests of this program. */
const AT_ONCE = 16
const NAMESPACES = 20
/** Longer than usual: the simulated cluster is busy while it is filled. */
const PATIENT = { deadlineMs: 120_000 }

/** A small DaemonSet, on one node. */
interface Small {
  readonly namespace: string
  readonly name: string
  readonly index: number
}

function smallOnes({ rollouts }: FleetSize): readonly Small[] {
  return Array.from({ length: rollouts - 1 }, (_none, index) => ({
    namespace: `team-${String(index % NAMESPACES).padStart(2, '0')}`,
    name: `agent-${String(index).padStart(4, '0')}`,
    index,
  }))
}

/** Creates all objects. The pods of {@link BUSY} begin at different times, so that their changes are spread evenly. */
export async function createFleet(client: KubeClient, size: FleetSize): Promise<void> {
  const small = smallOnes(size)
  for (const name of [NAMESPACE, ...new Set(small.map(({ namespace }) => namespace))])
    await client.create(resourcePaths.namespaces, { metadata: { name } })
  const flapMs = String(Math.round((size.nodes / size.updatesPerSecond) * 1_000))
  const annotations = { 'sim.tranche.dev/flap-ms': flapMs, 'sim.tranche.dev/jitter-ms': flapMs }
  await client.create(resourcePaths.daemonSets, daemonSet({ namespace: NAMESPACE, name: BUSY, tag: 'v1-bad-probe', annotations }))
  await client.create(resourcePaths.rollouts, rollout({ namespace: NAMESPACE, name: BUSY }))
  await untilScheduled(client, size.nodes)
  await atOnce(small, async ({ namespace, name, index }) => {
    const node = `node-${String((index % size.nodes) + 1).padStart(Math.max(3, String(size.nodes).length), '0')}`
    await client.create(
      resourcePaths.daemonSets,
      daemonSet({ namespace, name, tag: 'v1', nodeSelector: { 'kubernetes.io/hostname': node } }),
    )
    await client.create(resourcePaths.rollouts, rollout({ namespace, name, disabled: index % 20 === 7 }))
  })
}

/** Waits until each Rollout has a status; then begins releases of a tenth of them, and waits until these wait for approval or have failed. */
export async function settleFleet(client: KubeClient, size: FleetSize): Promise<void> {
  const small = smallOnes(size)
  await untilAll(client, 'have a status', [{ name: BUSY }, ...small], ({ phase }) => phase !== undefined && phase !== 'Initial')
  const released = small.filter(({ index }) => index % 10 === 0)
  await atOnce(released, async ({ namespace, name, index }) => {
    const containers = [{ name: 'agent', image: imageOf(name, index % 50 === 0 ? 'v2-bad-crash' : 'v2') }]
    const body = { spec: { template: { spec: { containers } } } }
    await client.patch(resourcePaths.daemonSets, { namespace, name }, { type: 'strategic', body })
  })
  await untilAll(client, 'wait for a decision', released, ({ message = '' }) => /approv|fail/i.test(message))
}

/** The simulated cluster is too busy for anything else until then. */
async function untilScheduled(client: KubeClient, nodes: number): Promise<void> {
  type Counted = { readonly status?: { readonly currentNumberScheduled?: number; readonly numberReady?: number } }
  const look = async (): Promise<true | string> => {
    const { status = {} } = await client.get<Counted>(resourcePaths.daemonSets, { namespace: NAMESPACE, name: BUSY }, PATIENT)
    const { currentNumberScheduled = 0, numberReady = 0 } = status
    return (currentNumberScheduled === nodes && numberReady > nodes / 4) || `${currentNumberScheduled} are, ${numberReady} of them ready`
  }
  await until(`${nodes} pods of ${BUSY} to be scheduled`, look, { withinSeconds: 300, everyMs: 500 })
}

interface Status {
  readonly phase?: string
  readonly message?: string
}

async function untilAll(
  client: KubeClient,
  what: string,
  ones: readonly Pick<Small, 'name'>[],
  isDone: (status: Status) => boolean,
): Promise<void> {
  const wanted = new Set(ones.map(({ name }) => name))
  const look = async (): Promise<true | string> => {
    let done = 0
    const { items } = await client.list<{ metadata: { name: string }; status?: Status }>(resourcePaths.rollouts, {})
    for (const { metadata, status } of items) if (wanted.has(metadata.name) && isDone(status ?? {})) done += 1
    return done === wanted.size || `${done} do`
  }
  await until(`${wanted.size} Rollouts to ${what}`, look, { withinSeconds: 600, everyMs: 1_000 })
}

async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item)
    }),
  )
}

function imageOf(name: string, tag: string): string {
  return `registry.example/${name}:${tag}`
}

interface DaemonSetOptions {
  readonly namespace: string
  readonly name: string
  readonly tag: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly nodeSelector?: Readonly<Record<string, string>>
}

function daemonSet({ namespace, name, tag, annotations = {}, nodeSelector = {} }: DaemonSetOptions): KubeDraft {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels, annotations }, spec: { nodeSelector, containers: [{ name: 'agent', image: imageOf(name, tag) }] } },
    },
  } as KubeDraft
}

function rollout({ namespace, name, disabled = false }: { namespace: string; name: string; disabled?: boolean }): KubeDraft {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { namespace, name },
    spec: {
      disabled,
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
      strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
    },
  } as KubeDraft
}

/** An object to create. */
interface KubeDraft {
  readonly metadata: { readonly name: string }
}
