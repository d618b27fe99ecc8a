import type { BluntMutant } from './blunt-mutant.ts'
import { mutantsOfNodeChecks } from './of-checks.ts'
import { mutantsOfReleases } from './of-releases.ts'
import { mutantsOfTheFence } from './of-the-fence.ts'
import { mutantsOfTheUsersObjects } from './of-the-users-objects.ts'

/** A blunt mutant with its id: the guarantee, and the number among the mutants of the guarantee, from 1. */
export interface NumberedMutant extends BluntMutant {
  /** `G1.3`. */
  readonly id: string
}

/** At least five of each guarantee, in order of the guarantees. */
export const bluntMutants: readonly NumberedMutant[] = numbered([
  ...mutantsOfTheFence,
  ...mutantsOfReleases,
  ...mutantsOfTheUsersObjects,
  ...mutantsOfNodeChecks,
])

function numbered(mutants: readonly BluntMutant[]): readonly NumberedMutant[] {
  const byGuarantee = [...Map.groupBy(mutants, ({ guarantee }) => guarantee)].toSorted(
    ([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)),
  )
  return byGuarantee.flatMap(([guarantee, own]) => own.map((mutant, at) => ({ ...mutant, id: `${guarantee}.${at + 1}` })))
}
