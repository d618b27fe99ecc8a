import type { DaemonSet, PodTemplate } from '@tranche/kube-types'
import { withAutomaticTolerations } from '../placement/tolerations.ts'
import { templateGenerationOf } from './nodes/pod-template.ts'

/**
 * Builds the pod that a DaemonSet runs on a node. The pod is not bound: the scheduler binds it by its affinity, unless the template names a
 * node itself.
 *
 * @param hash label of the current revision
 * @returns a Pod to create, without a name, which the server generates
 */
export function buildPod(daemonSet: DaemonSet, nodeName: string, hash: string): unknown {
  const { template } = daemonSet.spec
  const spec = template.spec ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${daemonSet.metadata.name}-`,
      namespace: daemonSet.metadata.namespace,
      labels: { ...template.metadata?.labels, ...generationLabel(daemonSet), 'controller-revision-hash': hash },
      ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
      ...finalizersOf(template),
      ownerReferences: [ownerReference(daemonSet)],
    },
    spec: {
      ...spec,
      affinity: pinTo(spec.affinity, nodeName),
      tolerations: withAutomaticTolerations(spec.tolerations ?? [], spec.hostNetwork === true),
    },
  }
}

/** @returns owner reference of pods and revisions to their DaemonSet */
export function ownerReference(daemonSet: DaemonSet): unknown {
  const { name, uid } = daemonSet.metadata
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true }
}

function generationLabel(daemonSet: DaemonSet): Readonly<Record<string, string>> {
  const generation = templateGenerationOf(daemonSet)
  return generation === undefined ? {} : { 'pod-template-generation': generation }
}

function finalizersOf(template: PodTemplate): { readonly finalizers?: readonly string[] } {
  const { finalizers } = (template.metadata ?? {}) as { readonly finalizers?: readonly string[] }
  return finalizers === undefined ? {} : { finalizers }
}

/** Replaces all required terms with one that names the node; the rest of the affinity stays. */
function pinTo(affinity: Readonly<Record<string, unknown>> | undefined, nodeName: string): unknown {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }]
  const nodeAffinity = affinity?.['nodeAffinity'] as object | undefined
  return { ...affinity, nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }
}
