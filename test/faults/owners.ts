import type { BatchRelease, RolloutActionType, ReleasePolicySpec, Rollout } from '@tranche/api-schema'
import { type Clock, sleep } from '@tranche/clock'
import { isAlreadyExists, isConflict, isNotFound, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, rolloutAnnotations, STEP_NODES_ANNOTATION } from '@tranche/kube-types'
import { daemonSetManifest, imageOf, type ReleaseOptions, rolloutManifest, stageKey } from '../scenarios/stage-objects.ts'
import type { Asked, Callers } from './callers.ts'
import type { ConfigLevels } from './end-config.ts'
import { livePodsOf } from './live-pods.ts'
import { createConfigOwner, isOfConfig, readingConfig, textOfConfig, withPins } from './own-config.ts'
import type { ApprovedBy, Shape, Steps, OwnerOperation } from './schedule.ts'
import { durationText } from './words.ts'
import type { World } from './world.ts'

/** The people and tools that own the DaemonSet and the Rollout. */
export interface Owners {
  /** Creates the DaemonSet, the Rollout and the policy, if they are missing. */
  install(): Promise<void>
  perform(perform: OwnerOperation): Promise<void>
  /** Makes a state that needs no decision of a person: both objects exist, are enabled and not paused, and the template is good. */
  settle(): Promise<void>
  /** Raises `maxUnavailable` of the DaemonSet, and of the policy if it has one, as the message of a wait asks. */
  raiseBudget(maxUnavailable: number): Promise<void>
  /** Git applies the Rollout again, as the message of a stall asks, or a person removes the annotation, if its steps name no nodes. */
  applyRollout(): Promise<void>
  /** Approves a step that waits for a person. */
  approve(by: ApprovedBy): Promise<void>
  /** Changes an annotation of the DaemonSet that means nothing, so that its controllers look at it. */
  touch(): Promise<void>
  /** Declares the update strategy as the message of a stop asks. */
  setOnDelete(): Promise<void>
  /** Deletes pods that read config itself, as the message of a stop asks. */
  deleteLivePods(): Promise<void>
  /** Tag that the template should have. */
  tag(): string
  /** Contents that the plain ConfigMap and the Secret should have. */
  levels(): ConfigLevels
  /** Id of the last action that was written; undefined before the first. */
  lastAction(): string | undefined
}

/** Everything that is in Git. */
interface Manifest {
  tag: string
  maxUnavailable: number | string
  minReadySeconds: number
  steps: Steps
  /** Content of the policy, even if the Rollout does not name it. */
  policy: ReleasePolicySpec
  namesPolicy: boolean
  /** Tranche may have restored an older template than the one in Git. */
  rolledBack: boolean
}

/**
 * @param world without any of their objects yet
 * @param callers through which they reach the REST API
 */
export function createOwners(world: World, callers: Callers): Owners {
  const { people, schedule, clock } = world
  const { shape } = schedule
  const git: Manifest = {
    tag: 'v1',
    maxUnavailable: shape.maxUnavailable,
    minReadySeconds: shape.minReadySeconds,
    steps: shape.steps,
    policy: shape.policy ?? {},
    namesPolicy: shape.policy !== null,
    rolledBack: mayRollBack(shape.policy),
  }
  const config = createConfigOwner(people, shape, (request) => ignoreExisting(ignoreMissing(request)))
  let actions = 0
  let touches = 0

  const manifest = (): DaemonSet => daemonSetManifest(releaseOptions(git, shape), git.tag) as DaemonSet
  const patchRollout = async (body: object): Promise<void> =>
    ignoreMissing(people.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }))
  const patchDaemonSet = async (body: object, type: 'merge' | 'strategic' = 'merge'): Promise<void> =>
    ignoreMissing(whenAnswered(clock, () => people.patch(resourcePaths.daemonSets, stageKey, { type, body })))
  const patchCanary = async (canaryStatus: object): Promise<void> =>
    ignoreMissing(
      people.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body: { status: { canaryStatus } } }, { subresource: 'status' }),
    )

  async function create(): Promise<void> {
    await ignoreExisting(people.create(resourcePaths.daemonSets, manifest() as never))
  }

  async function createRollout(): Promise<void> {
    const rollout = rolloutManifest({ steps: git.steps }) as Rollout
    const annotations = {
      [rolloutAnnotations.rollbackInBatch]: String(shape.rollbackInBatch),
      ...(git.namesPolicy && { [rolloutAnnotations.releasePolicy]: POLICY }),
    }
    await ignoreExisting(people.create(resourcePaths.rollouts, { ...rollout, metadata: { ...rollout.metadata, annotations } } as never))
  }

  async function createPolicy(): Promise<void> {
    const metadata = { namespace: stageKey.namespace, name: POLICY }
    await ignoreExisting(
      people.create(resourcePaths.releasePolicies, {
        apiVersion: 'tranche.dev/v1alpha1',
        kind: 'ReleasePolicy',
        metadata,
        spec: git.policy,
      } as never),
    )
  }

  async function setPolicy(spec: object): Promise<void> {
    const body = [{ op: 'replace', path: '/spec', value: spec }] as const
    await ignoreMissing(
      people.patch(resourcePaths.releasePolicies, { namespace: stageKey.namespace, name: POLICY }, { type: 'json', body }),
    )
  }

  async function nameIt(): Promise<void> {
    await patchRollout({ metadata: { annotations: { [rolloutAnnotations.releasePolicy]: git.namesPolicy ? POLICY : null } } })
  }

  async function install(): Promise<void> {
    await config.create()
    await createPolicy()
    await create()
    await createRollout()
  }

  async function apply(): Promise<void> {
    const { spec } = manifest()
    await patchDaemonSet({ spec: { updateStrategy: spec.updateStrategy, minReadySeconds: spec.minReadySeconds, template: spec.template } })
  }

  async function setImage(): Promise<void> {
    const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: imageOf(git.tag) }] } } } }
    await patchDaemonSet(body, 'strategic')
  }

  async function act(type: RolloutActionType, members: object): Promise<void> {
    const rollout = await rolloutOf(world)
    const expectedStep = rollout?.status?.canaryStatus?.currentStepIndex
    const action = { id: `action-${++actions}`, type, ...(expectedStep !== undefined && expectedStep >= 1 && { expectedStep }), ...members }
    await patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: JSON.stringify(action) } } })
  }

  /** The release has left the step while the user wrote. */
  async function actLate(): Promise<void> {
    const index = (await rolloutOf(world))?.status?.canaryStatus?.currentStepIndex ?? 0
    await act('approve', { expectedStep: Math.max(1, index - 1) })
  }

  async function approve(by: ApprovedBy): Promise<void> {
    if (by === 'action') await act('approve', {})
    else if (by === 'lateAction') await actLate()
    else if (by === 'rest') await callers.ask({ kind: 'ask', type: 'approve', lookedMs: 0, waitMs: 0 })
    else await patchCanary({ currentStepState: 'StepReady' })
  }

  async function deleteRelease({ propagation, keptMs = 0 }: Extract<OwnerOperation, { readonly kind: 'deleteRelease' }>): Promise<void> {
    if (keptMs > 0) {
      await keepRelease(true)
      // A Rollout that goes, too, is gone only after its BatchRelease.
      world.disturbances.disturb(keptMs)
      world.later(keptMs, () => keepRelease(false))
    }
    await ignoreMissing(people.delete(resourcePaths.batchReleases, stageKey, { propagationPolicy: propagation }))
  }

  /** Another program adds its finalizer to the BatchRelease, or removes it. */
  async function keepRelease(isKept: boolean): Promise<void> {
    for (;;) {
      const release = await people.get<BatchRelease>(resourcePaths.batchReleases, stageKey).catch(undefinedIfMissing)
      if (release === undefined) return
      const { finalizers = [], resourceVersion } = release.metadata
      const others = finalizers.filter((one) => one !== KEEPER)
      const body = { metadata: { resourceVersion, finalizers: isKept ? [...others, KEEPER] : others } }
      const isWritten = await people.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body }).then(() => true, isOutdated)
      if (isWritten) return
    }
  }

  /** Git keeps the former steps where admission rejects others. */
  async function setSteps(steps: Steps): Promise<void> {
    const before = git.steps
    git.steps = steps
    await patchRollout({ spec: { strategy: { canary: { steps } } } }).catch((error: unknown) => {
      git.steps = before
      throw error
    })
  }

  async function perform(operation: OwnerOperation): Promise<void> {
    world.note(operationText(operation))
    if (isOfConfig(operation)) return config.perform(operation, world.later)
    switch (operation.kind) {
      case 'template':
        git.tag = operation.tag
        return operation.whole ? apply() : setImage()
      case 'reapply':
        return apply()
      case 'pause':
      case 'resume':
        return patchRollout({ spec: { strategy: { paused: operation.kind === 'pause' } } })
      case 'approve':
        return approve(operation.by)
      case 'jump':
        return operation.by === 'action' ? act('jump', { step: operation.step }) : patchCanary({ nextStepIndex: operation.step })
      case 'act':
        git.rolledBack ||= operation.type === 'abort'
        return act(operation.type, {})
      case 'onDelete':
        git.rolledBack ||= operation.policy === 'Rollback'
        return patchRollout({ metadata: { annotations: { [rolloutAnnotations.onDelete]: operation.policy } } })
      case 'policy':
        git.policy = withPins(operation.spec, git.policy.config === 'Pin')
        git.rolledBack ||= mayRollBack(operation.spec)
        return setPolicy(git.policy)
      case 'spoilPolicy':
        world.later(operation.forMs, () => setPolicy(git.policy))
        return setPolicy({ ...git.policy, soak: { step: 'a while' } })
      case 'deletePolicy':
        world.later(operation.forMs, createPolicy)
        return ignoreMissing(people.delete(resourcePaths.releasePolicies, { namespace: stageKey.namespace, name: POLICY }))
      case 'namePolicy':
        git.namesPolicy = operation.isNamed
        return nameIt()
      case 'steps':
        return setSteps(operation.steps)
      case 'budget':
        git.maxUnavailable = operation.maxUnavailable
        return patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: operation.maxUnavailable } } } })
      case 'minReady':
        git.minReadySeconds = operation.seconds
        return patchDaemonSet({ spec: { minReadySeconds: operation.seconds } })
      case 'disable':
        world.later(operation.forMs, () => patchRollout({ spec: { disabled: false } }))
        return patchRollout({ spec: { disabled: true } })
      case 'deleteRollout':
        world.later(operation.forMs, createRollout)
        return ignoreMissing(people.delete(resourcePaths.rollouts, stageKey))
      case 'deleteDaemonSet':
        world.later(operation.forMs, create)
        return ignoreMissing(people.delete(resourcePaths.daemonSets, stageKey))
      case 'deleteRelease':
        return deleteRelease(operation)
      case 'pinConfig':
        git.policy = withPins(git.policy, true)
        return setPolicy(git.policy)
      default:
        return operation satisfies never
    }
  }

  return {
    install,
    perform,
    async settle() {
      // A release leaves excluded nodes behind.
      const { exclude: _, ...nodes } = git.policy.nodes ?? {}
      git.policy = withPins({ ...git.policy, nodes }, shape.config?.isPinned === true)
      await install()
      await setPolicy(git.policy)
      await nameIt()
      git.rolledBack ||= callers.asked().some(rollsBack)
      if (git.rolledBack || /bad/.test(git.tag)) await perform({ kind: 'template', tag: 'v10', whole: false })
      await patchRollout({ spec: { disabled: false, strategy: { paused: false } } })
    },
    async raiseBudget(maxUnavailable) {
      await perform({ kind: 'budget', maxUnavailable })
      if (git.policy.maxUnavailable === undefined) return
      git.policy = { ...git.policy, maxUnavailable }
      await setPolicy(git.policy)
    },
    async applyRollout() {
      world.note('Git applies the Rollout again')
      await patchRollout({ spec: { strategy: { canary: { steps: git.steps } } } })
      if (git.steps.some((step) => 'nodes' in step)) return
      world.note('a person says that the steps are for all nodes')
      await patchRollout({ metadata: { annotations: { [STEP_NODES_ANNOTATION]: null } } })
    },
    approve,
    async touch() {
      world.note('a person touches the DaemonSet, because its controller makes no progress')
      await patchDaemonSet({ metadata: { annotations: { 'example.com/touched': String(++touches) } } })
    },
    async deleteLivePods() {
      for (const { metadata } of await livePodsOf(world)) {
        world.note(`a person deletes pod ${metadata.name}, which reads config itself`)
        await ignoreMissing(people.delete(resourcePaths.pods, { namespace: metadata.namespace ?? '', name: metadata.name }))
      }
    },
    async setOnDelete() {
      world.note('a person sets the update strategy to OnDelete')
      await patchDaemonSet({ spec: { updateStrategy: { type: 'OnDelete' } } })
    },
    tag: () => git.tag,
    levels: config.levels,
    lastAction: () => (actions === 0 ? undefined : `action-${actions}`),
  }
}

const POLICY = 'careful'
const KEEPER = 'example.com/keep'

/** Whether the action may leave a template that is not the one in Git. */
function rollsBack({ type }: Asked): boolean {
  return type === 'abort' || type === 'undo'
}

/** Whether Tranche may restore an older template than the one in Git. */
function mayRollBack(policy: ReleasePolicySpec | null): boolean {
  return policy?.failure?.action === 'Rollback' || policy?.failure?.onReapply === 'Revert'
}

/** Allows every node: none has this label, though every object of JavaScript seems to have a member of its name. */
const ANYWHERE = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'constructor', operator: 'DoesNotExist' }] }],
    },
  },
}

function releaseOptions({ maxUnavailable, minReadySeconds }: Manifest, shape: Shape): ReleaseOptions {
  const { declares, startMs, stopMs, toleratesAll, cpu } = shape
  const annotations = { 'sim.tranche.dev/start-ms': String(startMs), 'sim.tranche.dev/stop-ms': String(stopMs) }
  return {
    maxUnavailable,
    minReadySeconds,
    strategyType: declares,
    annotations,
    cpu,
    ...readingConfig(shape),
    ...(toleratesAll ? {} : { tolerations: [], affinity: ANYWHERE }),
  }
}

function operationText(operation: OwnerOperation): string {
  if (isOfConfig(operation)) return textOfConfig(operation)
  switch (operation.kind) {
    case 'template':
      return `the template becomes ${operation.tag}${operation.whole ? ', with the whole manifest' : ''}`
    case 'reapply':
      return 'Git applies the manifest again'
    case 'approve':
      return `a person approves by ${operation.by}`
    case 'jump':
      return `a person jumps to step ${operation.step} by ${operation.by}`
    case 'act':
      return `a person writes the action ${operation.type}`
    case 'onDelete':
      return `the annotation on-delete becomes ${operation.policy ?? 'nothing'}`
    case 'deleteRelease':
      return `a client deletes the BatchRelease (${operation.propagation}${operation.keptMs ? `, another program keeps it for ${durationText(operation.keptMs)}` : ''})`
    case 'steps':
      return `the steps become ${JSON.stringify(operation.steps)}`
    case 'policy':
      return `the policy becomes ${JSON.stringify(operation.spec)}`
    case 'spoilPolicy':
      return `the policy breaks its rules for ${durationText(operation.forMs)}`
    case 'deletePolicy':
      return `the policy is deleted, and created again in ${durationText(operation.forMs)}`
    case 'namePolicy':
      return `the Rollout names ${operation.isNamed ? 'the policy' : 'no policy'}`
    case 'budget':
      return `maxUnavailable becomes ${operation.maxUnavailable}`
    case 'minReady':
      return `minReadySeconds becomes ${operation.seconds}`
    case 'disable':
      return `the Rollout is disabled for ${durationText(operation.forMs)}`
    case 'deleteRollout':
      return `the Rollout is deleted, and created again in ${durationText(operation.forMs)}`
    case 'deleteDaemonSet':
      return `the DaemonSet is deleted, and created again in ${durationText(operation.forMs)}`
    case 'pinConfig':
      return 'the policy pins config'
    case 'pause':
      return 'a person pauses'
    case 'resume':
      return 'a person resumes'
    default:
      return operation satisfies never
  }
}

/** @returns the Rollout as it is now; undefined when there is none */
export async function rolloutOf({ people }: World): Promise<Rollout | undefined> {
  return people.get<Rollout>(resourcePaths.rollouts, stageKey).catch(undefinedIfMissing)
}

/** @returns the DaemonSet as it is now; undefined when there is none */
export async function daemonSetOf({ people }: World): Promise<DaemonSet | undefined> {
  return people.get<DaemonSet>(resourcePaths.daemonSets, stageKey).catch(undefinedIfMissing)
}

function undefinedIfMissing(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  throw error
}

async function ignoreMissing(promise: Promise<unknown>): Promise<void> {
  await promise.catch(undefinedIfMissing)
}

/** If the API server cannot reach our webhook, it returns an error, and Git tries again. */
async function whenAnswered<T>(clock: Clock, act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!/failed calling webhook/.test(String(error))) throw error
      await sleep(clock, AGAIN_MS)
    }
  }
}

const AGAIN_MS = 1_000

/** @returns false where another write came first, true where the object is gone */
function isOutdated(error: unknown): boolean {
  if (isConflict(error)) return false
  if (isNotFound(error)) return true
  throw error
}

async function ignoreExisting(promise: Promise<unknown>): Promise<void> {
  await promise.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
}
