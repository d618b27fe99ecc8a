/**
 * Traffic members of a Rollout. They belong to workload kinds that another controller releases: here they keep their
 * shape and defaults, so that our CRDs can go over that controller's without changing its objects.
 *
 * @see gateway.networking.k8s.io/v1beta1 HTTPHeaderFilter, HTTPRouteMatch
 */
import { z } from 'zod'
import { int32, workloadRefSchema } from './fields.ts'

const headerSchema = z.looseObject({
  name: z.string().meta({ description: 'Name of the header.' }),
  value: z.string().meta({ description: 'Value of the header.' }),
})

const valueMatchSchema = z.looseObject({
  name: z.string().meta({ description: 'Name of what is compared.' }),
  value: z.string().meta({ description: 'Value that it is compared with.' }),
  type: z.string().optional().meta({ default: 'Exact', description: 'How it is compared.' }),
})

const pathMatchSchema = z.looseObject({
  type: z.string().optional().meta({ default: 'PathPrefix', description: 'How the path is compared.' }),
  value: z.string().optional().meta({ default: '/', description: 'What the path is compared with.' }),
})

/** How request headers are changed on the way to the canary. */
export const requestHeaderModifierSchema = z.looseObject({
  set: listByName(headerSchema).optional().meta({ description: 'Headers to overwrite.' }),
  add: listByName(headerSchema).optional().meta({ description: 'Headers to add.' }),
  remove: z.array(z.string()).max(16).optional().meta({ 'x-kubernetes-list-type': 'set', description: 'Headers to remove.' }),
})

/** Which requests go to the canary. */
export const routeMatchSchema = z.looseObject({
  path: pathMatchSchema.optional().meta({ description: 'Which paths.' }),
  headers: listByName(valueMatchSchema).optional().meta({ description: 'Which headers.' }),
  queryParams: listByName(valueMatchSchema).optional().meta({ description: 'Which query parameters.' }),
})

const ingressSchema = z.looseObject({
  name: z.string().meta({ description: 'Name of the Ingress.' }),
  classType: z.string().optional().meta({ description: 'Kind of its controller.' }),
})

const gatewaySchema = z.looseObject({ httpRouteName: z.string().optional().meta({ description: 'Name of the HTTPRoute.' }) })

/** Through which objects requests are routed. */
export const trafficRoutingSchema = z.looseObject({
  service: z.string().meta({ description: 'Service whose requests are routed.' }),
  gracePeriodSeconds: int32().optional().meta({ default: 3, description: 'Seconds to wait after each change of routes.' }),
  ingress: ingressSchema.optional().meta({ description: 'Ingress that routes them.' }),
  gateway: gatewaySchema.optional().meta({ description: 'Gateway that routes them.' }),
  customNetworkRefs: z.array(workloadRefSchema).optional().meta({ description: 'Other objects that route them.' }),
})

function listByName<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z
    .array(item)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
}
