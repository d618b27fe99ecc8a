import type { Pod } from '@tranche/kube-types'
import { type PullState, toHelperPod } from '@tranche/pre-pull'
import { describe, expect, it } from 'vitest'

const owner = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: 'agent', uid: 'release-1', controller: true }
const containers = [
  { name: 'image-0', image: 'a:1' },
  { name: 'image-1', image: 'b:1' },
]

/** A helper pod with two images. */
function aHelper(status: object, metadata: object = {}): Pod {
  return {
    metadata: {
      ...{ namespace: 'demo', name: 'agent-pull-1', uid: 'pod-1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' },
      ...{ labels: { 'tranche.dev/pre-pull': 'abc' }, ownerReferences: [owner], ...metadata },
    },
    spec: { nodeName: 'node-7', containers } as Pod['spec'],
    status,
  } as Pod
}

function waiting(...reasons: readonly (string | [reason: string, message: string])[]): object {
  const containerStatuses = reasons.map((one, at) => {
    const [reason, message] = typeof one === 'string' ? [one, undefined] : one
    return { name: `image-${at}`, state: { waiting: { reason, ...(message !== undefined && { message }) } } }
  })
  return { phase: 'Pending', containerStatuses }
}

function stateOf(status: object, previous?: PullState): PullState | undefined {
  const before = toHelperPod(aHelper({}), undefined)
  return toHelperPod(aHelper(status), previous === undefined || before === null ? undefined : { ...before, state: previous })?.state
}

describe('a helper pod', () => {
  it.each<[sentence: string, status: object, kind: PullState['kind']]>([
    ['pulls before its kubelet has seen it', {}, 'pulling'],
    ['pulls while its containers are created', waiting('ContainerCreating', 'ContainerCreating'), 'pulling'],
    ['pulls while one of its images is missing', waiting('CreateContainerConfigError', 'ContainerCreating'), 'pulling'],
    ['pulls while a container has no status yet', waiting('CreateContainerConfigError'), 'pulling'],
    [
      'has pulled once its kubelet refuses to create all containers',
      waiting('CreateContainerConfigError', 'CreateContainerConfigError'),
      'pulled',
    ],
    ['has pulled where a container cannot be created otherwise', waiting('CreateContainerError', 'RunContainerError'), 'pulled'],
    [
      'has pulled where the status names the images',
      {
        containerStatuses: [
          { name: 'image-0', imageID: 'a@1' },
          { name: 'image-1', imageID: 'b@1' },
        ],
      },
      'pulled',
    ],
    [
      'has pulled where a container has run after all',
      { phase: 'Failed', containerStatuses: [0, 1].map((at) => ({ name: `image-${at}`, state: { terminated: { exitCode: 1 } } })) },
      'pulled',
    ],
    [
      'has pulled nothing where the names of images are empty',
      { containerStatuses: [0, 1].map((at) => ({ name: `image-${at}`, imageID: '' })) },
      'pulling',
    ],
    ['fails where one image cannot be pulled', waiting('CreateContainerConfigError', 'ErrImagePull'), 'failed'],
    ['fails between two attempts', waiting('ImagePullBackOff', 'ContainerCreating'), 'failed'],
    ['fails where the name of an image is invalid', waiting('InvalidImageName', 'ContainerCreating'), 'failed'],
    ['fails where its node rejects it', { phase: 'Failed', reason: 'OutOfpods', message: 'too many pods' }, 'failed'],
  ])('%s', (_sentence, status, kind) => {
    expect(stateOf(status)?.kind).toBe(kind)
  })

  it('says which image cannot be pulled, in the words of its kubelet', () => {
    const state = stateOf(waiting('ContainerCreating', ['ErrImagePull', 'not found']))
    expect(state).toEqual({ kind: 'failed', message: 'cannot pull image "b:1": ErrImagePull: not found' })
  })

  it('says why its node rejected it', () => {
    const state = stateOf({ phase: 'Failed', reason: 'OutOfpods', message: 'too many pods' })
    expect(state).toEqual({ kind: 'failed', message: 'the node rejected the helper pod: OutOfpods too many pods' })
  })

  it('keeps the first cause between two attempts, which name none', () => {
    const cause: PullState = { kind: 'failed', message: 'cannot pull image "a:1": ErrImagePull: not found' }
    expect(stateOf(waiting(['ImagePullBackOff', 'Back-off pulling image "a:1"'], 'ContainerCreating'), cause)).toBe(cause)
  })

  it('bounds the words of its kubelet', () => {
    const state = stateOf(waiting(['ErrImagePull', 'x'.repeat(10_000)], 'ContainerCreating'))
    expect(state?.kind === 'failed' ? state.message.length : 0).toBe(300)
  })
})

describe('a pod is no helper pod', () => {
  it.each<[sentence: string, metadata: object]>([
    ['without the label', { labels: {} }],
    ['without an owner', { ownerReferences: [] }],
    ['of another owner', { ownerReferences: [{ ...owner, kind: 'DaemonSet' }] }],
    ['of an owner that does not control it', { ownerReferences: [{ ...owner, controller: false }] }],
    ['while it is being deleted', { deletionTimestamp: '2026-01-01T00:01:00Z' }],
  ])('%s', (_sentence, metadata) => {
    expect(toHelperPod(aHelper({}, metadata), undefined)).toBeNull()
  })
})
