import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { analysisPhases } from '../values.ts'
import { moment } from './fields.ts'

const phaseList = analysisPhases.join(', ')

/** An analysis of the release, with its latest measurements. */
export const analysisReportSchema = z.object({
  name: z.string().meta({ description: 'Name of the analysis in the policy.' }),
  phase: z.string().meta({ description: `Pending: it has not started. Otherwise the phase of its run: ${phaseList}.` }),
  message: z.string().optional().meta({ description: 'Human-readable explanation.' }),
  step: z.int().optional().meta({ description: 'Step, from 1, after which it runs. Absent in the background.' }),
  background: z.boolean().meta({ description: 'Whether it measures from the first batch to the end of the release.' }),
  required: z.boolean().meta({ description: 'Whether it can stop the release; false for a dry run.' }),
  successCondition: z.string().optional().meta({ description: 'CEL expression. If true, a measurement succeeds.' }),
  failureCondition: z.string().optional().meta({ description: 'CEL expression. If true, a measurement fails.' }),
  limit: z
    .object({
      op: z.enum(['<', '<=', '>', '>=']),
      value: z.number().meta({ description: 'Constant that `sample` is compared with.' }),
    })
    .optional()
    .meta({
      description:
        'A measurement passes if `sample` is below or above `value`, by `op`. Absent if the conditions hold more than one comparison of ' +
        'a measured number with a constant, or none.',
    }),
  startedAt: moment().optional().meta({ description: 'Start time of the run.' }),
  nextAt: moment().optional().meta({ description: 'Time when the next measurement is due.' }),
  finishedAt: moment().optional().meta({ description: 'End time of the run.' }),
  measurements: z
    .array(
      z.object({
        at: moment(),
        phase: z.string().meta({ description: `Outcome of the measurement: ${phaseList}, but not Running.` }),
        value: z.string().optional().meta({ description: 'Measured value, truncated to 256 characters.' }),
        sample: z
          .number()
          .optional()
          .meta({
            description:
              'The number in the value that `limit` is for, else its first number. If the limit is for every item of a list, the item ' +
              'nearest to breaking it. Absent without a finite number, and if the value is truncated.',
          }),
        size: z.int().min(0).optional().meta({ description: 'Number of items, if the value is a list.' }),
        message: z.string().optional().meta({ description: 'Human-readable explanation.' }),
      }),
    )
    .meta({ description: 'Latest measurements, newest last; at most five.' }),
})
/** @see analysisReportSchema */
export type AnalysisReport = Frozen<z.infer<typeof analysisReportSchema>>
