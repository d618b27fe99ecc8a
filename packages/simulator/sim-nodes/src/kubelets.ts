import type { Clock } from '@tranche/clock'
import type { Node, Pod } from '@tranche/kube-types'
import { type Actor, type ApiObject, isStatus, isTerminal, resources, type SimClient } from '@tranche/sim-api'
import { createEventRecorder, type EventRecorder } from '@tranche/sim-controllers'
import { addressOf, createAddresses } from './addresses.ts'
import { nodeConditions } from './build-node.ts'
import { startHeartbeats } from './heartbeats.ts'
import { KubeletPod, type PodLife } from './kubelet-pod.ts'
import { readyStatus } from './node-taints.ts'
import { type AdmissionRefusal, planAdmission } from './plan-admission.ts'
import { readPodSettings } from './pod-settings.ts'

/** Annotation with value `"true"` on a Node from the start: its kubelet reports that the node is not Ready. */
export const UNFIT_ANNOTATION = 'sim.tranche.dev/unfit'
/** Annotation on a Node: `"true"` silences its kubelet; any other value brings it back. */
export const DEAD_ANNOTATION = 'sim.tranche.dev/dead'

const RETRY_MS = 500

/** All kubelets of the cluster: one per Node object. */
export interface Kubelets {
  /** @returns whether the node exists and its kubelet is not silenced */
  isAlive(nodeName: string): boolean
  kill(nodeName: string): void
  revive(nodeName: string): void
  stop(): void
}

interface KubeletsOptions {
  readonly clientFor: (actor: Actor) => SimClient
  readonly clock: Clock
  /** Divides durations (> 0). */
  readonly speed: number
  /** Whether kubelets renew the Leases of their nodes. */
  readonly heartbeats: boolean
  /** Life cycle of a pod that starts, or is found, on its node. @default as its template says */
  readonly lives?: ((pod: Pod) => PodLife | undefined) | undefined
  /** Called when a kubelet has gone silent or come back. */
  readonly onLifeChange: (nodeName: string, alive: boolean) => void
  readonly onError: (error: unknown, actor: string, key: string) => void
}

interface Kubelet {
  readonly client: SimClient
  readonly events: EventRecorder
  /** Node as the kubelet has seen it. */
  node: Node
  readonly hostIP: string
  alive: boolean
  /** Annotation as last seen. Only its changes count: the watch may lag behind a call of `kill`. */
  dead: boolean
  readonly pods: Map<string, KubeletPod>
  /** Uids of pods that make the node unfit. */
  readonly breakers: Set<string>
  /** Uids of pods that it has rejected; the watch may still show them as they were before. */
  readonly rejected: Set<string>
}

/** Runs a kubelet for every current and future node. They watch as `kubelets` and write as `kubelet:<node>`. */
export function startKubelets({ clientFor, clock, speed, heartbeats, lives, onLifeChange, onError }: KubeletsOptions): Kubelets {
  const kubelets = new Map<string, Kubelet>()
  /** Pods by uid, including those whose node has not been seen yet. */
  const pods = new Map<string, Pod>()
  const nextAddress = createAddresses()

  const client = clientFor({ name: 'kubelets' })
  const nodeWatch = client.watch(resources.nodes, {}, (event) => {
    if (event.type === 'SYNCED') return
    const node = event.object as unknown as Node
    if (event.type === 'DELETED') removeKubelet(node.metadata.name)
    else takeNode(node)
  })
  const podWatch = client.watch(resources.pods, {}, (event) => {
    if (event.type === 'SYNCED') return
    const pod = event.object as unknown as Pod
    if (event.type === 'DELETED') dropPod(pod)
    else takePod(pod)
  })

  function takeNode(node: Node): void {
    const { name } = node.metadata
    const known = kubelets.get(name)
    const dead = node.metadata.annotations?.[DEAD_ANNOTATION] === 'true'
    if (known !== undefined) {
      known.node = node
      return setDead(name, known, dead)
    }
    const client = clientFor({ name: `kubelet:${name}` })
    const events = createEventRecorder(client, clock, 'kubelet')
    const hostIP = addressOf(node) ?? nextAddress('node')
    const kubelet: Kubelet = { client, events, node, hostIP, alive: !dead, dead, pods: new Map(), breakers: new Set(), rejected: new Set() }
    kubelets.set(name, kubelet)
    const unfit = node.metadata.annotations?.[UNFIT_ANNOTATION] === 'true'
    if (unfit) kubelet.breakers.add(UNFIT_ANNOTATION)
    if (dead) onLifeChange(name, false)
    else if (readyStatus(node) !== (unfit ? 'False' : 'True')) void postReady(name, kubelet)
    for (const pod of pods.values()) if (pod.spec?.nodeName === name) takePod(pod)
  }

  function setDead(name: string, kubelet: Kubelet, dead: boolean): void {
    if (kubelet.dead === dead) return
    kubelet.dead = dead
    if (dead) kill(name)
    else revive(name)
  }

  function takePod(pod: Pod): void {
    const name = pod.spec?.nodeName
    if (!name) return
    const { uid } = pod.metadata
    pods.set(uid, pod)
    const kubelet = kubelets.get(name)
    if (kubelet === undefined) return
    const running = kubelet.pods.get(uid)
    if (running !== undefined) return running.observe(pod)
    // A silenced kubelet accepts no new pods; it finds them when it is back.
    if (!kubelet.alive || (kubelet.rejected.has(uid) && !hasBegun(pod))) return
    const refusal = hasBegun(pod) ? undefined : planAdmission(pod, kubelet.node, runningOn(kubelet))
    if (refusal !== undefined) return void reject(name, kubelet, pod, refusal)
    const { client, events, hostIP } = kubelet
    const onNodeBroken = (): void => {
      kubelet.breakers.add(uid)
      void postReady(name, kubelet)
    }
    const ports = {
      client,
      events,
      clock,
      speed,
      hostIP,
      podIP: nextAddress('pod'),
      life: lives?.(pod),
      onNodeBroken,
      onError: errorOf(name),
    }
    kubelet.pods.set(uid, new KubeletPod(ports, pod))
  }

  function runningOn(kubelet: Kubelet): readonly Pod[] {
    return [...kubelet.pods.keys()].flatMap((uid) => pods.get(uid) ?? []).filter((pod) => !isTerminal(pod))
  }

  async function reject(name: string, kubelet: Kubelet, pod: Pod, { reason, message }: AdmissionRefusal): Promise<void> {
    const { name: podName, namespace, uid } = pod.metadata
    kubelet.rejected.add(uid)
    const status = { phase: 'Failed', reason, message: `Pod was rejected: ${message}` }
    try {
      await kubelet.client.patch(resources.pods, podName, namespace, { metadata: { uid }, status }, 'status')
      kubelet.events.record(pod, 'Warning', reason, message)
    } catch (error) {
      kubelet.rejected.delete(uid)
      if (isStatus(error, 404)) return
      errorOf(name)(error, `${namespace}/${podName}`)
      clock.setTimer(RETRY_MS, () => {
        const current = pods.get(uid)
        if (current !== undefined) takePod(current)
      })
    }
  }

  function dropPod(pod: Pod): void {
    const { uid } = pod.metadata
    pods.delete(uid)
    const name = pod.spec?.nodeName ?? ''
    const kubelet = kubelets.get(name)
    kubelet?.pods.get(uid)?.drop()
    kubelet?.pods.delete(uid)
    kubelet?.rejected.delete(uid)
    if (kubelet?.breakers.has(uid) === true) heal(name, kubelet, pod)
  }

  /** The node is fit again; its kubelet reports that with its next status. */
  function heal(name: string, kubelet: Kubelet, { metadata }: Pod): void {
    const post = (): void => {
      kubelet.breakers.delete(metadata.uid)
      void postReady(name, kubelet)
    }
    const { nodeHealMs } = readPodSettings(metadata.annotations ?? {}, name, '')
    if (nodeHealMs === 0) post()
    else clock.setTimer(nodeHealMs / speed, post)
  }

  function removeKubelet(name: string): void {
    for (const pod of kubelets.get(name)?.pods.values() ?? []) pod.drop()
    kubelets.delete(name)
    onLifeChange(name, true)
  }

  function kill(name: string): void {
    const kubelet = kubelets.get(name)
    if (kubelet?.alive !== true) return
    kubelet.alive = false
    for (const pod of kubelet.pods.values()) pod.freeze()
    onLifeChange(name, false)
  }

  function revive(name: string): void {
    const kubelet = kubelets.get(name)
    if (kubelet === undefined || kubelet.alive) return
    kubelet.alive = true
    for (const pod of kubelet.pods.values()) pod.thaw()
    for (const pod of pods.values()) if (pod.spec?.nodeName === name) takePod(pod)
    onLifeChange(name, true)
    void postReady(name, kubelet)
  }

  async function postReady(name: string, kubelet: Kubelet): Promise<void> {
    if (!kubelet.alive || kubelets.get(name) !== kubelet) return
    const patch = (): Promise<ApiObject> =>
      kubelet.client.patch(
        resources.nodes,
        name,
        undefined,
        { status: { conditions: nodeConditions(clock.nowMs(), kubelet.breakers.size === 0) } },
        'status',
      )
    await patch().catch((error: unknown) => {
      if (isStatus(error, 404)) return
      errorOf(name)(error, name)
      clock.setTimer(1000, () => void postReady(name, kubelet))
    })
  }

  function errorOf(name: string): (error: unknown, key: string) => void {
    return (error, key) => onError(error, `kubelet:${name}`, key)
  }

  const stopHeartbeats = heartbeats
    ? startHeartbeats({
        clock,
        beating: () => [...kubelets.values()].filter(({ alive }) => alive),
        onError: (error, name) => errorOf(name)(error, name),
      })
    : undefined

  return {
    isAlive: (nodeName) => kubelets.get(nodeName)?.alive === true,
    kill,
    revive,
    stop() {
      stopHeartbeats?.()
      nodeWatch.stop()
      podWatch.stop()
      for (const kubelet of kubelets.values()) for (const pod of kubelet.pods.values()) pod.freeze()
    },
  }
}

/** Running pods are not admitted again. */
function hasBegun({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || (status?.phase ?? 'Pending') !== 'Pending' || status?.startTime !== undefined
}
