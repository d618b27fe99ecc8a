import type { Rollout } from '@tranche/api-schema'
import { canonicalJson, sha256Hex, STEP_NODES_ANNOTATION } from '@tranche/kube-types'
import { jsonOrUndefined } from './json-or-undefined.ts'

/**
 * Text of the annotation `tranche.dev/step-nodes`: which nodes the steps name, and of which generation of the Rollout. It stays as it is while they
 * are lost.
 *
 * @returns null: no annotation, because no step names nodes
 */
export function stepNodesText(rollout: Rollout): string | null {
  if (hasLostStepNodes(rollout)) return annotationOf(rollout) ?? null
  const digest = digestOf(rollout)
  return digest === null ? null : JSON.stringify({ generation: rollout.metadata.generation ?? 0, digest })
}

/** Whether the annotation must be written before a status: nothing is opened by steps that it does not know. */
export function mustKeepStepNodesFirst(rollout: Rollout): boolean {
  const text = stepNodesText(rollout)
  return text !== null && text !== annotationOf(rollout)
}

/**
 * G3: whether `nodes` of the steps have changed although the generation of the Rollout has not. No user did that: the API server dropped them in
 * a write under other CustomResourceDefinitions. A step for a few nodes would be one for all.
 */
export function hasLostStepNodes(rollout: Rollout): boolean {
  const known = jsonOrUndefined(annotationOf(rollout))
  if (typeof known !== 'object' || known === null || !('generation' in known) || !('digest' in known)) return false
  return known.generation === rollout.metadata.generation && known.digest !== digestOf(rollout)
}

function annotationOf({ metadata }: Rollout): string | undefined {
  return metadata.annotations?.[STEP_NODES_ANNOTATION]
}

function digestOf({ spec }: Rollout): string | null {
  const steps = spec.strategy.canary?.steps ?? []
  if (steps.every(({ nodes }) => nodes === undefined)) return null
  return sha256Hex(canonicalJson(steps.map(({ nodes }) => nodes ?? null))).slice(0, 16)
}
