import type { Node, Taint } from '@tranche/kube-types'

/** Fields of a node that a test sets. Default: Ready, without labels or taints. */
export interface NodeFields {
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly ready?: boolean
  /** Whether the kubelet of a node that is not Ready still reports: False, not Unknown. @default true */
  readonly answers?: boolean
  /** Type of a condition that is True beside Ready. */
  readonly maintenance?: string
  /** `lastTransitionTime` of its Ready condition. */
  readonly notReadySince?: string
}

/** Builds a node as the API server serves it. */
export function aNode(name: string, fields: NodeFields = {}): Node {
  const notReady = fields.answers === false ? 'Unknown' : 'False'
  return {
    metadata: { name, uid: `node-uid-${name}`, resourceVersion: '1', labels: fields.labels ?? {} },
    spec: { taints: fields.taints ?? [] },
    status: {
      conditions: [
        { type: 'Ready', status: fields.ready === false ? notReady : 'True', ...sinceOf(fields) },
        ...(fields.maintenance === undefined ? [] : [{ type: fields.maintenance, status: 'True' as const }]),
      ],
    },
  }
}

function sinceOf({ notReadySince }: NodeFields): { readonly lastTransitionTime?: string } {
  return notReadySince === undefined ? {} : { lastTransitionTime: notReadySince }
}
