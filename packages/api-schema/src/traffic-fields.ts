/**
 * Traffic members of a Rollout. They belong to workload kinds that another controller releases: here they keep their
 * shape and defaults, so that our CRDs can go over that controller's without changing its objects.
 *
 * @see gateway.networking.k8s.io/v1beta1 HTTPHeaderFilter, HTTPRouteMatch
 */
import { z } from 'zod'
import { int32, workloadRefSchema } from './fields.ts'

const headerSchema = z.looseObject({ name: z.string(), value: z.string() })

const valueMatchSchema = z.looseObject({
  name: z.string(),
  value: z.string(),
  type: z.string().optional().meta({ default: 'Exact' }),
})

const pathMatchSchema = z.looseObject({
  type: z.string().optional().meta({ default: 'PathPrefix' }),
  value: z.string().optional().meta({ default: '/' }),
})

/** How request headers are changed on the way to the canary. */
export const requestHeaderModifierSchema = z.looseObject({
  set: listByName(headerSchema).optional(),
  add: listByName(headerSchema).optional(),
  remove: z.array(z.string()).max(16).optional().meta({ 'x-kubernetes-list-type': 'set' }),
})

/** Which requests go to the canary. */
export const routeMatchSchema = z.looseObject({
  path: pathMatchSchema.optional(),
  headers: listByName(valueMatchSchema).optional(),
  queryParams: listByName(valueMatchSchema).optional(),
})

/** Through which objects requests are routed. */
export const trafficRoutingSchema = z.looseObject({
  service: z.string(),
  gracePeriodSeconds: int32().optional().meta({ default: 3 }),
  ingress: z.looseObject({ name: z.string(), classType: z.string().optional() }).optional(),
  gateway: z.looseObject({ httpRouteName: z.string().optional() }).optional(),
  customNetworkRefs: z.array(workloadRefSchema).optional(),
})

function listByName<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z
    .array(item)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
}
