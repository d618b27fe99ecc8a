import { cordonMarkOf, cordonStep, type DrainedPermit, uncordonPatch } from '@tranche/drain'
import type { Node } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const release = { namespace: 'demo', name: 'node-agent', uid: 'br-1' }
const drained: DrainedPermit = { release, permit: { podUid: 'p1', podResourceVersion: '7' } }
const later: DrainedPermit = { release, permit: { podUid: 'p1', podResourceVersion: '9' } }
const ofNextPod: DrainedPermit = { release, permit: { podUid: 'p2', podResourceVersion: '11' } }
const ofOther: DrainedPermit = { release: { ...release, name: 'csi', uid: 'br-2' }, permit: drained.permit }

describe('a node', () => {
  it('without a mark is marked and cordoned in one write, which rests on the node as it was read', () => {
    expect(after(node(), drained)).toEqual({ schedulable: false, cordoned: true })
    expect(cordonStep(node(), drained)).toMatchObject({ patch: { metadata: { resourceVersion: '3' } } })
  })

  it('that a user cordoned is marked, and stays as it is at the end', () => {
    const marked = patched(node({ unschedulable: true }), drained)
    expect(cordonMarkOf(marked)).toMatchObject({ cordoned: false })
    expect(cordonStep(marked, drained)).toEqual({ kind: 'done' })
    expect(uncordoned(marked)).toEqual(node({ unschedulable: true }).spec)
  })

  it('that an executor cordoned is schedulable at the end', () => {
    const marked = patched(node(), drained)
    expect(cordonStep(marked, drained)).toEqual({ kind: 'done' })
    expect(uncordoned(marked)).toEqual({})
  })

  it('that a user makes schedulable in mid-drain is not cordoned again, and a later cordon of the user stays', () => {
    const marked = patched(node(), drained)
    const freed = { ...marked, spec: {} }
    const yielded = patched(freed, drained)
    expect(yielded.spec).toEqual({})
    expect(cordonStep(yielded, drained)).toEqual({ kind: 'done' })
    expect(uncordoned({ ...yielded, spec: { unschedulable: true } })).toEqual({ unschedulable: true })
  })

  it('that a user makes schedulable keeps its state at the end, also where no executor has seen it yet', () => {
    expect(uncordoned({ ...patched(node(), drained), spec: {} })).toEqual({})
  })

  it('is marked again for a new permit, so that an undo of the earlier one fails', () => {
    const marked = patched(node(), drained)
    expect(cordonStep(marked, later)).toMatchObject({ kind: 'mark' })
    expect(cordonMarkOf(patched(marked, later))).toMatchObject({ podResourceVersion: '9', cordoned: true })
    expect(uncordoned(patched(marked, later))).toEqual({})
  })

  it('whose cordon by a user has an earlier mark keeps it under a new permit', () => {
    const marked = patched(node({ unschedulable: true }), drained)
    expect(uncordoned(patched(marked, later))).toEqual({ unschedulable: true })
  })

  it('that is schedulable under an earlier mark is cordoned for the permit of another pod', () => {
    const marked = { ...patched(node({ unschedulable: true }), drained), spec: {} }
    expect(after(marked, ofNextPod)).toEqual({ schedulable: false, cordoned: true })
  })

  it.each([
    ['cordoned before', patched(node({ unschedulable: true }), drained)],
    ['did not cordon before', patched(node(), drained)],
  ])('that a user %s and makes schedulable in mid-drain stays schedulable under another permit for the same pod', (_before, marked) => {
    const renewed = patched({ ...marked, spec: {} }, later)
    expect(renewed.spec).toEqual({})
    expect(cordonMarkOf(renewed)).toMatchObject({ podResourceVersion: '9', cordoned: false })
    expect(uncordoned({ ...renewed, spec: { unschedulable: true } })).toEqual({ unschedulable: true })
  })

  it('that another release drains is left to it', () => {
    expect(cordonStep(patched(node(), ofOther), drained)).toMatchObject({ kind: 'taken', by: { name: 'csi' } })
  })

  it('with the mark of another namespace is left to it, also if the mark has the uid of the release', () => {
    const marked = patched(node(), { ...drained, release: { ...release, namespace: 'other' } })
    expect(cordonStep(marked, drained)).toMatchObject({ kind: 'taken', by: { namespace: 'other' } })
  })

  it.each(['', 'yes', 'null', '{}', '{"uid":"br-1"}', '[]'])('with the unreadable mark %j counts as cordoned by a user', (mark) => {
    const spoilt = node({ unschedulable: true }, mark)
    expect(cordonMarkOf(spoilt)).toBeUndefined()
    expect(uncordoned(patched(spoilt, drained))).toEqual({ unschedulable: true })
    expect(uncordoned(spoilt)).toEqual({ unschedulable: true })
  })

  it("that a user cordoned between two readings is the user's, by the writer that the API server keeps", () => {
    const marked = patched(node(), drained)
    expect(uncordoned(managedBy(marked, 'tranche-executor'))).toEqual({})
    expect(uncordoned(managedBy(marked, 'kubectl-cordon'))).toEqual({ unschedulable: true })
    expect(cordonMarkOf(patched(managedBy(marked, 'kubectl-cordon'), drained))).toMatchObject({ cordoned: false })
    expect(cordonMarkOf(patched(managedBy(marked, 'kubectl-cordon'), later))).toMatchObject({ cordoned: false })
  })

  it('without a mark needs no undo', () => expect(uncordonPatch(node())).toBeNull())
})

function node(spec: NonNullable<Node['spec']> = {}, mark?: string): Node {
  const annotations = mark === undefined ? {} : { annotations: { 'tranche.dev/cordon': mark } }
  return { metadata: { name: 'n1', uid: 'u1', resourceVersion: '3', ...annotations }, spec }
}

/** The node as the API server shows it if this writer set spec.unschedulable. */
function managedBy(marked: Node, manager: string): Node {
  const managedFields = [
    { manager: 'kubelet', fieldsV1: { 'f:metadata': {} } },
    { manager, fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } },
  ]
  return { ...marked, metadata: { ...marked.metadata, managedFields } as Node['metadata'] }
}

/** The node after the patch that its step asks for. */
function patched(before: Node, permit: DrainedPermit): Node {
  const step = cordonStep(before, permit)
  if (step.kind !== 'mark') throw new Error(`the step is ${step.kind}`)
  const mark = step.patch.metadata.annotations['tranche.dev/cordon'] ?? ''
  return {
    ...before,
    metadata: { ...before.metadata, annotations: { 'tranche.dev/cordon': mark } },
    spec: { ...before.spec, ...(step.patch.spec as object) },
  }
}

function after(before: Node, permit: DrainedPermit): { readonly schedulable: boolean; readonly cordoned: boolean } {
  const marked = patched(before, permit)
  return { schedulable: marked.spec?.unschedulable !== true, cordoned: cordonMarkOf(marked)?.cordoned === true }
}

/** Spec of the node after the undo. */
function uncordoned(marked: Node): object {
  const patch = uncordonPatch(marked)
  const { unschedulable, ...rest } = marked.spec ?? {}
  const isUndone = patch?.spec?.unschedulable === null
  return { ...rest, ...(!isUndone && unschedulable !== undefined && { unschedulable }) }
}
