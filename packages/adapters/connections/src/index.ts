export { type ConnectionLimits, type IdleConnections, limitConnections } from './limit-connections.ts'
export { createQuota, type Quota } from './quota.ts'
export { createSharedQuota, type SharedLimits, type SharedQuota } from './shared-quota.ts'
export { createSemaphore, type Semaphore } from './semaphore.ts'
