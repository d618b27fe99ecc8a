import type { ActionBody, ActionType, RolloutReport } from '@tranche/api-schema'
import { countText } from '../../../format/duration.ts'
import { imageVersion } from '../../../format/image-change.ts'

/** Texts of an action's confirmation. */
export interface ActionText {
  /** Text of its button. */
  readonly label: string
  /** Question of its confirmation. */
  readonly question: string
  /** Its effects on the release, one sentence each. */
  readonly effects: readonly string[]
  /** Whether the user must type the name of the Rollout: the action reaches every node, or puts another version on them. */
  readonly mustTypeName: boolean
  /** Whether a forecast shows what would happen. */
  readonly hasForecast: boolean
}

/** Order of the buttons: those that continue the release, those that stop it, those that change the version. */
export const actionOrder: readonly ActionType[] = ['approve', 'resume', 'retry', 'pause', 'promote', 'jump', 'abort', 'undo', 'restart']

const withName: readonly ActionType[] = ['promote', 'abort', 'undo', 'restart']
const withForecast: readonly ActionType[] = ['approve', 'resume', 'retry', 'promote', 'restart']

/** What the texts of an action depend on besides the report. */
interface ActionDetails {
  /** Whether a promote also skips soak and analysis. @default false */
  readonly isFull?: boolean
  /** Config that the released revision changes. @default none */
  readonly changedConfig?: readonly string[]
}

/** Says what an action would do to a Rollout now. */
export function textOfAction(type: ActionType, report: RolloutReport, details: ActionDetails = {}): ActionText {
  return {
    label: labels[type],
    ...wordings[type](report, details),
    mustTypeName: withName.includes(type),
    hasForecast: withForecast.includes(type),
  }
}

const labels: Readonly<Record<ActionType, string>> = {
  approve: 'Approve',
  resume: 'Resume',
  retry: 'Retry',
  pause: 'Pause',
  promote: 'Promote…',
  jump: 'Jump…',
  abort: 'Abort…',
  undo: 'Undo to a revision…',
  restart: 'Restart…',
}

type Wording = Pick<ActionText, 'question' | 'effects'>

const wordings: Readonly<Record<ActionType, (report: RolloutReport, details: ActionDetails) => Wording>> = {
  approve: (report) => ({ question: `Approve step ${report.step?.index ?? 1} of ${report.name}?`, effects: [nextStepText(report)] }),
  resume: (report) => ({
    question: `Resume ${report.name}?`,
    effects: [`The release of ${versionsOf(report.images)} continues where it paused.`],
  }),
  retry: ({ name, images }) => ({
    question: `Retry ${versionsOf(images)} on ${name}?`,
    effects: ['The stop is lifted. Failures so far no longer count; new ones do.', `The release of ${versionsOf(images)} continues.`],
  }),
  pause: ({ name }) => ({
    question: `Pause ${name}?`,
    effects: ['Nothing more is deleted, also in the current batch. Pods that are already stopping come back with the new version.'],
  }),
  promote: (report, { isFull = false }) => ({
    question: isFull ? `Promote ${report.name} in full?` : `Promote ${report.name} without its remaining pauses?`,
    effects: [
      `The remaining ${countText(leftOf(report), 'node')} get ${versionsOf(report.images)} without asking again.`,
      isFull ? 'Soak and analysis are skipped too.' : 'Each step must be available before the next begins; soak and analysis stay.',
      'The budget of unavailable nodes always applies.',
    ],
  }),
  jump: ({ name }) => ({ question: `Go to another step of ${name}?`, effects: ['Nodes that are updated stay updated.'] }),
  abort: (report, { changedConfig = [] }) => abortWording(report, changedConfig),
  undo: ({ name }) => ({
    question: `Roll ${name} back to an earlier revision?`,
    effects: ['The pod template of that revision is applied again, as an ordinary release with its steps.'],
  }),
  restart: ({ name, nodes }) => ({
    question: `Restart every pod of ${name}?`,
    effects: [`All ${countText(nodes.desired, 'pod')} are replaced with the same version, in batches with the pauses of the steps.`],
  }),
}

/** Often only the config differs: then the versions of the images say nothing. */
function abortWording(report: RolloutReport, changedConfig: readonly string[]): Wording {
  const { images, stableImages, nodes, failedStable: failed } = report
  const version = versionsOf(images)
  const isOfConfig = changedConfig.length > 0
  const named = isOfConfig ? `${version} (changed ${changedConfig.join(', ')})` : version
  const target = stableImages === undefined ? '' : ` to ${versionsOf(stableImages)}${isOfConfig ? ' with the earlier config' : ''}`
  return {
    question: `Abort the release of ${named} and roll back?`,
    effects: [
      ...(failed === undefined
        ? []
        : [
            `That returns to revision ${failed.revision}, which is blocked because it failed${failed.at === undefined ? '' : ` at ${failed.at}`}.`,
          ]),
      `${countText(nodes.updated, 'node')} with ${named} go back${target}, unhealthy ones first, within the budget and without pauses.`,
      `${isOfConfig ? 'That version' : version} is blocked: applying it again does not release it until a person retries.`,
    ],
  }
}

function nextStepText(report: RolloutReport): string {
  const { step, steps, images } = report
  const next = step === undefined ? undefined : steps.find(({ index }) => index === step.index + 1)
  if (next === undefined) return `The remaining ${countText(leftOf(report), 'node')} get ${versionsOf(images)}.`
  return `Step ${next.index} begins: up to ${countText(next.nodes, 'node')} run ${versionsOf(images)}.`
}

function leftOf({ nodes }: RolloutReport): number {
  return Math.max(0, nodes.desired - nodes.updated)
}

function versionsOf(images: readonly string[]): string {
  return images.map(imageVersion).join(', ')
}

/** Choices of a user for an action. */
export interface ActionChoice {
  readonly reason: string
  readonly isFull: boolean
  /** Target of a jump. */
  readonly step: number | null
  /** Target of an undo: controller-revision-hash. */
  readonly toRevision: string | null
}

/**
 * Builds the body of an action for the release as the user saw it when the dialog opened: if it has moved on since, the server refuses it.
 *
 * @param seen report at that moment
 * @param templateRevision revision of the current template of the DaemonSet, for an undo
 */
export function bodyOfAction(
  type: ActionType,
  seen: RolloutReport,
  choice: ActionChoice,
  templateRevision: string | undefined,
): ActionBody {
  const { step, canaryRevision } = seen
  const reason = choice.reason.trim()
  const isForStep = type === 'approve' || type === 'jump' || type === 'promote'
  const isForRevision = isForStep || type === 'abort' || type === 'retry'
  return {
    ...(reason !== '' && { reason }),
    ...(isForStep && step !== undefined && { expectedStep: step.index }),
    ...(isForRevision && canaryRevision !== undefined && { revision: canaryRevision }),
    ...(type === 'promote' && choice.isFull && { full: true }),
    ...(type === 'jump' && choice.step !== null && { step: choice.step }),
    ...(type === 'undo' && choice.toRevision !== null && { toRevision: choice.toRevision }),
    ...(type === 'undo' && templateRevision !== undefined && { revision: templateRevision }),
  }
}
