import type { Rollout } from '@tranche/api-schema'
import { canonicalJson, sha256Hex, STEP_NODES_ANNOTATION } from '@tranche/kube-types'
import { jsonOrUndefined } from './json-or-undefined.ts'

/**
 * Text of the annotation `tranche.dev/step-nodes`: digests of the nodes that the steps name, and of the steps without them, and the generation
 * that has them. Once they are lost, it says so.
 *
 * @returns null: no annotation, because no step names nodes
 */
export function stepNodesText(rollout: Rollout): string | null {
  const { uid, generation = 0 } = rollout.metadata
  if (hasLostStepNodes(rollout)) return JSON.stringify({ uid, others: digestsOf(rollout).others, lost: true })
  if (!selectsNodes(rollout)) return null
  return JSON.stringify({ uid, ...digestsOf(rollout), generation })
}

/**
 * Whether the annotation must be written, or removed, before a status: a status that says nothing of nodes beside an annotation that does is a
 * sign of their loss.
 */
export function mustKeepStepNodesFirst(rollout: Rollout): boolean {
  return stepNodesText(rollout) !== (annotationOf(rollout) ?? null)
}

/** Whether the annotation lacks the nodes that the steps name now. Nothing is opened by steps that it does not know. */
export function lacksStepNodes(rollout: Rollout): boolean {
  return selectsNodes(rollout) && mustKeepStepNodesFirst(rollout)
}

/**
 * G3: whether the steps have lost their `nodes` although no user removed them: the API server dropped them in a write under other
 * CustomResourceDefinitions. Either the generation is the same, or the status has lost what it says of them, which only such a write takes
 * away. A step for a few nodes would be one for all. Once the annotation says so, it stays so, whatever else of the Rollout changes, until the
 * steps change or a user removes the annotation.
 */
export function hasLostStepNodes(rollout: Rollout): boolean {
  const known = jsonOrUndefined(annotationOf(rollout))
  if (typeof known !== 'object' || known === null || !('uid' in known) || !('others' in known)) return false
  if (known.uid !== rollout.metadata.uid || selectsNodes(rollout)) return false
  if ('lost' in known) return known.lost === true && known.others === digestsOf(rollout).others
  return 'generation' in known && (known.generation === (rollout.metadata.generation ?? 0) || rollout.status?.stepNodes === undefined)
}

/** Digest of the nodes that the steps name, for `status.stepNodes`; undefined where none names any. */
export function stepNodesDigest(rollout: Rollout): string | undefined {
  return selectsNodes(rollout) ? digestsOf(rollout).nodes : undefined
}

function annotationOf({ metadata }: Rollout): string | undefined {
  return metadata.annotations?.[STEP_NODES_ANNOTATION]
}

/** Whether any step selects nodes. */
export function selectsNodes({ spec }: Rollout): boolean {
  return spec.strategy.canary?.steps?.some(({ nodes }) => nodes !== undefined) ?? false
}

function digestsOf({ spec }: Rollout): { readonly nodes: string; readonly others: string } {
  const steps = spec.strategy.canary?.steps ?? []
  return { nodes: digest(steps.map(({ nodes }) => nodes ?? null)), others: digest(steps.map(({ nodes: _nodes, ...step }) => step)) }
}

function digest(value: unknown): string {
  return sha256Hex(canonicalJson(value)).slice(0, 16)
}
