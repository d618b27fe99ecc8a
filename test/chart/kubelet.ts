import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '@tranche/clock'
import { createReflector, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { freePort } from '../../scripts/free-port.ts'
import type { Image } from './image.ts'
import type { Place } from './place.ts'
import { type ContainerSpec, type RunningContainer, runContainer } from './pods.ts'

/** The members that this file uses. */
interface Deployment extends KubeObject {
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: PodSpec } }
  readonly status?: DeploymentStatus
}

interface DeploymentStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly updatedReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
}

/** The members of a pod's spec that this file uses. */
export interface PodSpec {
  readonly serviceAccountName: string
  readonly containers: readonly PodContainer[]
  readonly volumes?: readonly {
    readonly name: string
    readonly secret?: { readonly secretName: string }
    readonly configMap?: { readonly name: string }
  }[]
}

interface PodContainer extends Pick<ContainerSpec, 'name' | 'command' | 'args'> {
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
  }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

/** A pod of a Deployment as a process. */
export interface Pod {
  /** Name of the Deployment. */
  readonly name: string
  readonly template: string
  readonly container: RunningContainer
  /** Origins by the name of the port: `health`, `metrics`, `http`. */
  readonly urls: Readonly<Record<string, string>>
  readonly isReady: () => boolean
}

/** Stands in for the Deployment controller and a node. */
export interface Kubelet {
  /** Pods that run now, of all Deployments or one. */
  pods(name?: string): readonly Pod[]
  /** Output of all containers so far. */
  readonly outputs: () => string
  /** The same without containers whose Deployment, and therefore the permissions of their account, were removed. */
  readonly outputsOfKept: () => string
  /** Exit codes of containers that were asked to end. */
  readonly exits: readonly (number | null)[]
  /** Containers that ended by themselves, with their output. */
  readonly crashes: readonly string[]
  /** Resolves once no pod runs. */
  idle(): Promise<void>
  end(): Promise<void>
}

/** Options of {@link startKubelet}. */
export interface KubeletOptions {
  readonly place: Place
  readonly image: Image
  /** Namespace of the Deployments. */
  readonly namespace: string
  /** Called with each pod that is about to be replaced. */
  readonly onReplaced?: (pod: Pod) => Promise<void>
}

const deployments: ResourcePath = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true }
const configMaps: ResourcePath = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const FILES = '/etc/tranche/'
/** Interval of probes, in milliseconds. */
const PROBE_MS = 100

/**
 * Runs the pods of all Deployments of a namespace as processes of this machine, and reports their state in the status of the Deployments.
 * The first pods start at once. Pods of another template start one by one, each before an old one ends.
 *
 * Pods have addresses and ports of their own, which processes of one machine share, so these are replaced, and nothing else.
 */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { place, namespace, onReplaced = async () => undefined } = options
  const { client } = place
  const scope = { namespace }
  const reflector = createReflector<Deployment, Deployment>({
    ...{ client, clock: systemClock, log: silentLogger, resource: deployments, scope },
    transform: (object) => object,
  })
  const running = new Map<string, readonly Pod[]>()
  const all: RunningContainer[] = []
  const orphans = new Set<RunningContainer>()
  const [exits, crashes]: [(number | null)[], string[]] = [[], []]
  const works = new Map<string, Promise<void>>()
  const ending = new AbortController()

  const podsOf = (name: string): readonly Pod[] => running.get(name) ?? []
  const wantedOf = (name: string): Deployment | undefined => (ending.signal.aborted ? undefined : reflector.store.get({ namespace, name }))

  async function begin(deployment: Deployment): Promise<Pod> {
    const pod = await startPod(deployment, options)
    running.set(pod.name, [...podsOf(pod.name), pod])
    all.push(pod.container)
    void pod.container.ended.then((code) => {
      if (!podsOf(pod.name).includes(pod)) return
      crashes.push(`${pod.name} ended with ${code}:\n${pod.container.output()}`)
    })
    return pod
  }

  async function terminate(pod: Pod): Promise<void> {
    running.set(
      pod.name,
      podsOf(pod.name).filter((one) => one !== pod),
    )
    pod.container.terminate()
    exits.push(await pod.container.ended)
  }

  /** One step towards the desired state. @returns whether there may be more to do */
  async function step(name: string): Promise<boolean> {
    const wanted = wantedOf(name)
    const now = podsOf(name)
    if (wanted === undefined) {
      for (const { container } of now) orphans.add(container)
      await Promise.all(now.map(terminate))
      return false
    }
    const { replicas } = wanted.spec
    const template = JSON.stringify(wanted.spec.template)
    const fresh = now.filter((pod) => pod.template === template)
    const old = now.filter((pod) => pod.template !== template)
    const ready = fresh.filter((pod) => pod.isReady()).length
    await report(client, wanted, { replicas: now.length, updatedReplicas: fresh.length, ready: now.filter((pod) => pod.isReady()).length })
    const surplus = [...old.toSorted((a, b) => Number(a.isReady()) - Number(b.isReady())), ...fresh.slice(replicas)]
    if (surplus[0] !== undefined && ready + old.length > replicas) {
      await onReplaced(surplus[0])
      await terminate(surplus[0])
    } else if (fresh.length < replicas && (old.length === 0 || ready === fresh.length)) await begin(wanted)
    else if (ready < fresh.length) await pause(PROBE_MS)
    else return false
    return true
  }

  function wake(name: string): void {
    const before = works.get(name) ?? Promise.resolve()
    works.set(
      name,
      before.then(async () => {
        while (await step(name));
      }),
    )
  }

  reflector.subscribe({ onChange: ({ name }) => wake(name) })
  const watching = reflector.start(ending.signal)
  await reflector.whenSynced()
  return {
    pods: (name) => (name === undefined ? [...running.values()].flat() : podsOf(name)),
    outputs: () => all.map((one) => one.output()).join(''),
    outputsOfKept: () => all.flatMap((one) => (orphans.has(one) ? [] : [one.output()])).join(''),
    exits,
    crashes,
    async idle() {
      await Promise.all(works.values())
    },
    async end() {
      ending.abort(new Error('the test ends'))
      for (const name of running.keys()) wake(name)
      await Promise.all(works.values())
      await watching
    },
  }
}

async function report(
  client: KubeClient,
  { metadata, status, spec }: Deployment,
  { ready, ...counts }: { readonly replicas: number; readonly updatedReplicas: number; readonly ready: number },
): Promise<void> {
  const next: DeploymentStatus = {
    ...{ observedGeneration: metadata.generation ?? 0, ...counts },
    ...{ readyReplicas: ready, availableReplicas: ready },
  }
  if (Object.entries(next).every(([name, value]) => status?.[name as keyof DeploymentStatus] === value)) return
  const isDone = counts.updatedReplicas === spec.replicas && ready === spec.replicas
  const condition = (type: string, holds: boolean, reason: string) => ({ type, status: holds ? 'True' : 'False', reason, message: reason })
  const conditions = [
    condition('Available', ready >= spec.replicas, 'MinimumReplicasAvailable'),
    condition('Progressing', true, isDone ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated'),
  ]
  const key = { namespace: metadata.namespace ?? '', name: metadata.name }
  const body = { status: { ...next, conditions } }
  await client.patch(deployments, key, { type: 'merge', body }, { subresource: 'status' })
}

async function startPod({ metadata, spec: { template } }: Deployment, options: KubeletOptions): Promise<Pod> {
  const { main, urls } = await exchangePorts(template.spec.containers[0]!)
  const container = await runOnce(main, template.spec, options)
  let isReady = false
  const { path, port } = main.readinessProbe!.httpGet
  const hasEnded = container.ended.then(() => true)
  void (async () => {
    // As in a kubelet, a ready pod stays ready until a probe fails.
    while (!(await Promise.race([hasEnded, pause(PROBE_MS)]))) {
      isReady = await fetch(`${urls[port]}${path}`).then(
        ({ ok }) => ok,
        () => false,
      )
    }
    isReady = false
  })()
  return { name: metadata.name, template: JSON.stringify(template), container, urls, isReady: () => isReady }
}

async function exchangePorts(
  main: PodContainer,
): Promise<{ readonly main: PodContainer; readonly urls: Readonly<Record<string, string>> }> {
  const urls: Record<string, string> = {}
  let args = main.args.map((arg) => arg.replace(/host=0\.0\.0\.0$/, 'host=127.0.0.1'))
  for (const { name, containerPort } of main.ports ?? []) {
    const port = await freePort()
    urls[name] = `http://127.0.0.1:${port}`
    args = args.map((arg) => arg.replace(new RegExp(`-port=${containerPort}$`), `-port=${port}`))
  }
  return { main: { ...main, args }, urls }
}

/** Runs a container of a pod once, to its end. */
export async function runOnce(container: PodContainer, spec: PodSpec, options: KubeletOptions): Promise<RunningContainer> {
  const { name, command, args } = container
  return runContainer({ name, command, args, ...(await filledIn(container, spec, options)) }, await settingOf(spec, options))
}

/** Environment and files, with the current content of Secrets and ConfigMaps. */
async function filledIn(
  { env = [], volumeMounts = [] }: PodContainer,
  { volumes = [] }: PodSpec,
  { place: { client }, namespace }: KubeletOptions,
): Promise<Required<Pick<ContainerSpec, 'env' | 'files'>>> {
  const read = async (path: ResourcePath, name: string) =>
    (await client.get<{ readonly data?: Readonly<Record<string, string>> }>(path, { namespace, name })).data ?? {}
  const secret = async (name: string) =>
    Object.fromEntries(
      Object.entries(await read(resourcePaths.secrets, name)).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    )
  const files: Record<string, string> = {}
  for (const { name, mountPath } of volumeMounts.filter((mount) => mount.mountPath.startsWith(FILES))) {
    const volume = volumes.find((one) => one.name === name)
    const texts = volume?.secret ? await secret(volume.secret.secretName) : await read(configMaps, volume?.configMap?.name ?? '')
    for (const [key, text] of Object.entries(texts)) files[`${mountPath.slice(FILES.length)}/${key}`] = text
  }
  const values = env.map(async ({ name, value, valueFrom }) => {
    const from = valueFrom?.secretKeyRef
    return { name, value: from === undefined ? (value ?? '') : ((await secret(from.name))[from.key] ?? '') }
  })
  return { env: await Promise.all(values), files }
}

/** Address of the cluster, and identity of the pod: the token is that of its account. */
async function settingOf({ serviceAccountName }: PodSpec, { place, image, namespace }: KubeletOptions) {
  const { server, caCertificate } = place
  const { stdout } = await place.kubectl(['create', 'token', serviceAccountName, '--namespace', namespace])
  return { image: image.root, server, caCertificate, token: stdout.trim(), namespace }
}
