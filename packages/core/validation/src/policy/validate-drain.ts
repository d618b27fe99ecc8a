import { type DrainConsumer, type DrainRules, sizeLimits } from '@tranche/api-schema'
import { isLabelKey, isObjectName } from '../fields/names.ts'
import { matchesEverything, selectorFaults } from '../fields/selector-faults.ts'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { durationProblems } from './validate-values.ts'

const path = 'spec.drain'

/** Maximum characters of the name of a CSI driver. @see storage.k8s.io/v1 CSIDriver */
const LONGEST_DRIVER = sizeLimits.name

/** Checks the rules about pods that must leave a node: consumers and time limit. */
export function validateDrain({ cordon = true, consumers = [], timeout }: DrainRules): readonly Problem[] {
  const isIdle = !cordon && consumers.length === 0
  return [
    ...(isIdle ? [problemOf('DrainIdle', { value: consumers })] : []),
    ...findingsOfEach(consumers, (consumer, index) => consumerProblems(`${path}.consumers[${index}]`, consumer)),
    ...durationProblems(`${path}.timeout`, timeout),
  ]
}

function consumerProblems(at: string, { selector, csiDriver, extendedResource }: DrainConsumer): readonly Problem[] {
  const given = [selector, csiDriver, extendedResource].filter((one) => one !== undefined)
  if (given.length !== 1) return [problemOf('DrainConsumer', { path: at, value: { selector, csiDriver, extendedResource } })]
  if (selector !== undefined && matchesEverything(selector)) return [problemOf('DrainAll', { path: `${at}.selector`, value: selector })]
  return [
    ...selectorFaults(`${at}.selector`, selector ?? {}).map((fault) => problemOf('PolicySelector', fault)),
    ...(csiDriver === undefined || isDriver(csiDriver) ? [] : [problemOf('DrainDriver', { path: `${at}.csiDriver`, value: csiDriver })]),
    ...(extendedResource === undefined || isExtendedResource(extendedResource)
      ? []
      : [problemOf('DrainResource', { path: `${at}.extendedResource`, value: extendedResource })]),
  ]
}

function isDriver(name: string): boolean {
  return name.length <= LONGEST_DRIVER && isObjectName(name.toLowerCase())
}

/** Every pod requests native resources such as cpu, which have no domain or one of Kubernetes. @see core/v1 IsExtendedResourceName */
function isExtendedResource(name: string): boolean {
  const slash = name.lastIndexOf('/')
  const domain = name.slice(0, Math.max(0, slash))
  return slash > 0 && isLabelKey(name) && domain !== 'kubernetes.io' && !domain.endsWith('.kubernetes.io')
}
