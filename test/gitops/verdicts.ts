import { argoHealth, kstatus } from '../scenarios/readers.ts'
import { type ArgoVerdict, argoVerdict, possibleActions } from './argo-cd.ts'
import { type FluxVerdict, fluxVerdict } from './flux.ts'
import type { Situation } from './situations.ts'

/** Results of GitOps tools for one situation. */
export interface Verdicts extends Situation {
  readonly argo: ArgoVerdict
  /** Actions that are offered. */
  readonly actions: readonly string[]
  /** Health in Argo CD without our scripts; `error` if its own script ends with one. */
  readonly argoOwn: string
  /** Status in Flux without expressions. */
  readonly kstatus: string
  readonly flux: FluxVerdict
}

/** Judges a situation like each of the tools. */
export async function verdictsOf(situation: Situation): Promise<Verdicts> {
  const { rollout } = situation
  return {
    ...situation,
    argo: await argoVerdict(rollout),
    actions: await possibleActions(rollout),
    argoOwn: orError(() => argoHealth(rollout)),
    kstatus: kstatus(rollout),
    flux: fluxVerdict(rollout),
  }
}

function orError(verdict: () => string): string {
  try {
    return verdict()
  } catch {
    return 'error'
  }
}
