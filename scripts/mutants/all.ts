import { mutantsOfAnalysis } from './analysis.ts'
import { mutantsOfConfig } from './config.ts'
import { mutantsOfDrain } from './drain.ts'
import { mutantsOfFlight } from './flight.ts'
import { mutantsOfGroups } from './groups.ts'
import { mutantsOfLeftNodes } from './left.ts'
import type { Mutant } from './mutant.ts'
import { mutantsOfDrainConditions } from './drain-condition.ts'
import { mutantsOfDowntime } from './downtime.ts'
import { mutantsOfNodeLocks } from './node-lock.ts'
import { mutantsOfNotify } from './notify.ts'
import { mutantsOfPass } from './pass.ts'
import { mutantsOfPodPolicy } from './pod-policy.ts'
import { mutantsOfPrePull } from './pre-pull.ts'
import { mutantsOfPrograms } from './programs.ts'
import { mutantsOfRelease } from './release.ts'
import { mutantsOfReports } from './reports.ts'
import { mutantsOfRollout } from './rollout.ts'
import { mutantsOfSizes } from './sizes.ts'
import { mutantsOfShares } from './shares.ts'
import { mutantsOfTimes } from './times.ts'
import { mutantsOfValidation } from './validation.ts'
import { mutantsOfVerdict } from './verdict.ts'

/** Every fault, package by package in reading order. */
export const mutants: readonly Mutant[] = [
  ...mutantsOfDrain,
  ...mutantsOfDrainConditions,
  ...mutantsOfNodeLocks,
  ...mutantsOfDowntime,
  ...mutantsOfFlight,
  ...mutantsOfConfig,
  ...mutantsOfPodPolicy,
  ...mutantsOfTimes,
  ...mutantsOfValidation,
  ...mutantsOfSizes,
  ...mutantsOfAnalysis,
  ...mutantsOfVerdict,
  ...mutantsOfPass,
  ...mutantsOfRelease,
  ...mutantsOfLeftNodes,
  ...mutantsOfGroups,
  ...mutantsOfRollout,
  ...mutantsOfNotify,
  ...mutantsOfReports,
  ...mutantsOfPrePull,
  ...mutantsOfPrograms,
  ...mutantsOfShares,
]
