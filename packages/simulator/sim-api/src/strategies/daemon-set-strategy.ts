import type { ApiObject } from '../model/client.ts'
import type { StatusCause } from '../model/status-error.ts'
import { jsonEqual, objectOrEmpty } from '../model/json.ts'
import { validateDaemonSet } from './daemon-set-validation.ts'
import { invalid } from '../model/field-errors.ts'
import { defaultPodSpec, withDefaults } from './pod-template-defaults.ts'
import { podSpecWarnings } from './pod-template-validation.ts'
import type { Strategy } from '../model/resource-definition.ts'
import { plainStrategy } from './strategies.ts'

/** Annotation that counts template changes; written by the server only. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

/** DaemonSets. */
export const daemonSetStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: defaultDaemonSet,
  asSent: (object) => (object.metadata.annotations?.[TEMPLATE_GENERATION] === undefined ? withTemplateGeneration(object, 0) : object),
  prepareCreate(object) {
    const { status: _status, ...rest } = object
    return withTemplateGeneration({ ...rest, status: EMPTY_STATUS } as unknown as ApiObject, Math.max(1, templateGeneration(object)))
  },
  prepareUpdate(object, old) {
    const changed = !jsonEqual(templateOf(object), templateOf(old))
    return withTemplateGeneration(object, templateGeneration(old) + (changed ? 1 : 0))
  },
  validate: validateDaemonSet,
  validateUpdate,
  warnings(object, old) {
    const isKnown = old !== undefined && templateGeneration(object) === templateGeneration(old)
    return isKnown ? [] : podSpecWarnings(objectOrEmpty(objectOrEmpty(templateOf(object))['spec']), 'spec.template.spec')
  },
}

/** These fields have no omitempty: they are served even before the first status write. */
const EMPTY_STATUS = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }

function defaultDaemonSet(object: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const template = objectOrEmpty(spec['template'])
  const podSpec = objectOrEmpty(template['spec'])
  const filledPodSpec = defaultPodSpec(podSpec)
  const filledTemplate = { ...template, metadata: objectOrEmpty(template['metadata']), spec: filledPodSpec }
  const filled = withDefaults(spec, { revisionHistoryLimit: 10, updateStrategy: {} })
  const updateStrategy = defaultUpdateStrategy(objectOrEmpty(filled['updateStrategy']))
  return { ...object, spec: { ...filled, template: filledTemplate, updateStrategy } }
}

function defaultUpdateStrategy(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const typed = withDefaults(given, { type: 'RollingUpdate' })
  if (typed['type'] !== 'RollingUpdate') return typed
  return { ...typed, rollingUpdate: withDefaults(objectOrEmpty(typed['rollingUpdate']), { maxUnavailable: 1, maxSurge: 0 }) }
}

function templateOf(object: ApiObject): unknown {
  return objectOrEmpty(object['spec'])['template']
}

function templateGeneration(object: ApiObject): number {
  const number = Number(object.metadata.annotations?.[TEMPLATE_GENERATION])
  return Number.isInteger(number) ? number : 0
}

function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const text = String(generation)
  const { annotations } = object.metadata
  if (annotations?.[TEMPLATE_GENERATION] === text) return object
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [TEMPLATE_GENERATION]: text } } }
}

function validateUpdate(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const selector = objectOrEmpty(object['spec'])['selector']
  const causes: StatusCause[] = []
  if (!jsonEqual(selector, objectOrEmpty(old['spec'])['selector'])) causes.push(invalid('spec.selector', selector, 'field is immutable'))
  const collisions = Number(objectOrEmpty(object['status'])['collisionCount'] ?? 0)
  if (collisions < Number(objectOrEmpty(old['status'])['collisionCount'] ?? 0))
    causes.push(invalid('status.collisionCount', collisions, 'cannot be decremented'))
  return causes
}
