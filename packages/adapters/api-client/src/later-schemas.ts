/**
 * Schemas of most answers, and their pages and lists. They are loaded with the first call that needs one: the first page of the dashboard
 * needs none of them, and would wait for them.
 */
import {
  batchReportSchema,
  eventReportSchema,
  nodeReportSchema,
  pageOf,
  revisionReportSchema,
  rolloutSummarySchema,
} from '@tranche/api-schema'

export {
  doctorReportSchema,
  explanationSchema,
  forecastSchema,
  historyReportSchema,
  nodeEventsSchema,
  permissionsSchema,
  policyReportSchema,
  revisionTemplateSchema,
  rolloutReportSchema,
  validateAnswerSchema,
} from '@tranche/api-schema'

/** Page of Rollouts. */
export const rolloutPage = pageOf(rolloutSummarySchema)
/** Page of the nodes of a Rollout. */
export const nodePage = pageOf(nodeReportSchema)
/** Batches of a release. */
export const batchList = pageOf(batchReportSchema).pick({ items: true })
/** Revisions of a DaemonSet. */
export const revisionList = pageOf(revisionReportSchema).pick({ items: true })
/** Events of a Rollout. */
export const eventList = pageOf(eventReportSchema).pick({ items: true })
