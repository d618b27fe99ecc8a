import { drive, type Stage } from './stage.ts'
import { forbidPods } from './hands.ts'

/** A way for a new version to fail, and the expected result on ten nodes with two unavailable at a time. */
export interface FailureKind {
  readonly name: string
  /** Tag of the image that is released. @default v2 */
  readonly tag?: string
  /** Annotations of the pod template, without the prefix `sim.tranche.dev/`. */
  readonly settings?: Readonly<Record<string, string>>
  readonly initContainers?: readonly object[]
  /** Resources of the container. */
  readonly resources?: object
  /** Tolerations of the agent. @default every taint */
  readonly tolerations?: readonly object[]
  /** Injects a fault before the release. @returns function that removes it */
  readonly before?: (stage: Stage) => Promise<() => Promise<void>>
  /** Injects a fault after the new template. @returns function that removes it */
  readonly after?: (stage: Stage) => Promise<() => Promise<void>>
  /** Expected text of the verdict on a node. */
  readonly says: RegExp
  /** Maximum number of nodes that it may reach before the release stops. */
  readonly most: number
  /** Maximum seconds from the new template to the stop. */
  readonly withinSeconds: number
  /** Nodes that a release with `Continue` reaches within two minutes. @default 2: `maxUnavailable` */
  readonly reaches?: number
  /** Seconds within which a node must become available. @default 20 */
  readonly deadline?: number
}

/** The node of a new pod dies once its kubelet has started the pod. */
const killsItsNode: Omit<FailureKind, 'name'> = {
  settings: { 'start-ms': '4000' },
  after: killFirstTaken,
  says: /NodeNotReady: the node became NotReady after its kubelet had started the new pod/,
  deadline: 120,
  most: 10,
  withinSeconds: 60,
  reaches: 10,
}

/** Every kind. Containers fail at once. Failures that only a deadline shows take 20 s, or 10 s if the pod cannot be scheduled. */
export const failureKinds: readonly FailureKind[] = [
  {
    name: 'an image that cannot be pulled',
    tag: 'bad-pull',
    says: /(ErrImagePull|ImagePullBackOff) \(container agent\)/,
    most: 2,
    withinSeconds: 5,
  },
  {
    name: 'configuration that is not there',
    tag: 'bad-config',
    says: /CreateContainerConfigError \(container agent\): couldn't find key/,
    most: 2,
    withinSeconds: 5,
  },
  {
    name: 'configuration that comes later',
    tag: 'bad-heals',
    settings: { 'heal-ms': '10000' },
    reaches: 10,
    says: /CreateContainerConfigError/,
    most: 2,
    withinSeconds: 5,
  },
  {
    name: 'a container that cannot be created',
    tag: 'bad-create',
    says: /CreateContainerError \(container agent\): the container name/,
    most: 2,
    withinSeconds: 5,
  },
  {
    name: 'a program that cannot be started',
    tag: 'bad-start',
    says: /RunContainerError \(container agent\): exec: "agent"|CrashLoopBackOff \(container agent, exit code 128/,
    most: 2,
    withinSeconds: 5,
  },
  {
    name: 'an init container that crashes',
    tag: 'bad-init',
    initContainers: [{ name: 'first', image: 'registry.example/first:v1' }],
    says: /CrashLoopBackOff \(container first, exit code 1, after \d restarts?\)/,
    most: 2,
    withinSeconds: 5,
  },
  {
    name: 'a crash at the start',
    tag: 'bad-crash',
    says: /CrashLoopBackOff \(container agent, exit code 1, after \d restarts?\)/,
    most: 2,
    withinSeconds: 5,
  },
  { name: 'too little memory', tag: 'bad-oom', says: /\(container agent, exit code 137, after \d restarts?\)/, most: 2, withinSeconds: 5 },
  {
    name: 'readiness that never comes',
    tag: 'bad-ready',
    says: /ProgressDeadlineExceeded.*: no available pod for 20 s/,
    most: 2,
    withinSeconds: 25,
  },
  {
    name: 'readiness that comes and goes',
    tag: 'bad-probe',
    settings: { 'flap-ms': '3000' },
    says: /ProgressDeadlineExceeded/,
    most: 10,
    withinSeconds: 60,
    reaches: 6,
  },
  {
    name: 'a crash after five seconds',
    tag: 'bad-flap',
    says: /CrashLoopBackOff \(container agent, exit code 1, after \d restarts?\)/,
    most: 8,
    withinSeconds: 9,
    reaches: 8,
  },
  {
    name: 'a crash every three seconds',
    tag: 'bad-late',
    settings: { 'late-ms': '3000' },
    says: /CrashLoopBackOff/,
    most: 6,
    withinSeconds: 7,
    reaches: 6,
  },
  {
    name: 'restarts that no back-off shows',
    tag: 'bad-restart',
    settings: { 'late-ms': '1000' },
    says: /TooManyRestarts \(container agent, exit code 1, after 3 restarts\)/,
    most: 6,
    withinSeconds: 7,
    reaches: 10,
  },
  {
    name: 'a pod for which no node has room',
    resources: { requests: { cpu: '1000' } },
    says: /Unschedulable: .*Insufficient cpu/,
    most: 2,
    withinSeconds: 14,
  },
  {
    name: 'a pod that cannot be created',
    before: forbidPods,
    says: /FailedCreate: no pod was created in 10 s: Error creating: pods ".*" is forbidden: exceeded quota: no-pods/,
    most: 2,
    withinSeconds: 14,
  },
  {
    name: 'an agent that breaks its node',
    tag: 'bad-node',
    settings: { 'flap-ms': '3000' },
    says: /NodeNotReady: the node became NotReady after its kubelet had started the new pod/,
    most: 6,
    withinSeconds: 7,
    reaches: 10,
  },
  { name: 'a node that dies of it', ...killsItsNode },
  { name: 'a node that dies of it, and on which the agent is not desired then', ...killsItsNode, tolerations: [] },
]

/** Kills the first node whose kubelet has started the new pod. */
async function killFirstTaken(stage: Stage): Promise<() => Promise<void>> {
  let node = ''
  const isTaken = async (): Promise<boolean> => {
    const taken = (await stage.pods()).find(({ metadata, status, spec }) => {
      const isNew = JSON.stringify(spec).includes(':v2') && metadata.deletionTimestamp === undefined
      return isNew && status?.startTime !== undefined
    })
    node = taken?.spec?.nodeName ?? ''
    return taken !== undefined
  }
  await stage.until('a kubelet has started the new pod', isTaken)
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  return async () => drive(stage.clock, stage.simulator.nodes.revive(node))
}
