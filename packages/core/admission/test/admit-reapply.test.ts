import { admitReapply } from '@tranche/admission'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { daemonSet } from './objects.ts'

const template = { metadata: { labels: { app: 'node-agent' } }, spec: { containers: [{ name: 'agent', image: 'agent:v2' }] } }
const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent', uid: 'd1', controller: true }

describe('a template that failed', () => {
  it('is refused with a fix when it is applied again (G12)', () => {
    expect(apply(daemonSet({ image: 'agent:v2' }), revision())).toEqual({
      kind: 'deny',
      message:
        'spec.template: revision 5d4f failed or was aborted, and its policy has failure.onReapply: Deny; apply another template, or run tranche retry on its Rollout to release revision 5d4f anyway',
      causes: [],
    })
  })

  it('is refused although its revision is a patch with $patch: replace, and clients send a null creationTimestamp', () => {
    const sent = daemonSet({ image: 'agent:v2' })
    const timed = { ...sent.spec.template, metadata: { ...sent.spec.template.metadata, creationTimestamp: null } }
    const data = { spec: { template: { $patch: 'replace', ...template, metadata: { ...template.metadata, creationTimestamp: null } } } }
    expect(apply({ ...sent, spec: { ...sent.spec, template: timed } } as DaemonSet, revision({}, data)).kind).toBe('deny')
  })

  it.each<[string, DaemonSet, ControllerRevision]>([
    ['another template', daemonSet({ image: 'agent:v3' }), revision()],
    ['the present template', daemonSet(), revision({}, { spec: { template: daemonSet().spec.template } })],
    [
      'that of a revision that is no longer refused',
      daemonSet({ image: 'agent:v2' }),
      revision({ labels: { 'tranche.dev/refused': 'false' } }),
    ],
    ['that of another DaemonSet', daemonSet({ image: 'agent:v2' }), revision({ ownerReferences: [{ ...owner, uid: 'd2' }] })],
    [
      'that of a revision which the DaemonSet does not control (F15)',
      daemonSet({ image: 'agent:v2' }),
      revision({ ownerReferences: [{ ...owner, controller: false }] }),
    ],
    [
      'that of a revision which another kind with its uid controls (F15)',
      daemonSet({ image: 'agent:v2' }),
      revision({ ownerReferences: [{ ...owner, kind: 'ReplicaSet' }] }),
    ],
    ['that of a revision of another namespace (F15)', daemonSet({ image: 'agent:v2' }), revision({ namespace: 'tenant' })],
    ['that of a revision without an owner', daemonSet({ image: 'agent:v2' }), revision({ ownerReferences: [] })],
    ['that of a revision that cannot be read', daemonSet({ image: 'agent:v2' }), revision({}, 'nothing')],
  ])('allows %s', (_what, newObject, held) => {
    expect(apply(newObject, held)).toEqual({ kind: 'allow', warnings: [] })
  })

  it('is allowed when the controller applies it', () => {
    const request = { oldObject: daemonSet(), newObject: daemonSet({ image: 'agent:v2' }), refused: [revision()] }
    expect(admitReapply({ operation: 'UPDATE', ...request, fieldManager: 'tranche-controller' }).kind).toBe('allow')
  })
})

function apply(newObject: DaemonSet, refused: ControllerRevision) {
  return admitReapply({ operation: 'UPDATE', oldObject: daemonSet(), newObject, refused: [refused], fieldManager: 'kubectl' })
}

function revision(metadata: Partial<ControllerRevision['metadata']> = {}, data: unknown = { spec: { template } }): ControllerRevision {
  const labels = { 'tranche.dev/refused': 'true', 'controller-revision-hash': '5d4f' }
  const named = { name: 'node-agent-5d4f', namespace: 'demo', uid: 'c1', resourceVersion: '1' }
  return { metadata: { ...named, labels, ownerReferences: [owner], ...metadata }, revision: 2, data }
}
