export { type ConnectionLimits, type IdleConnections, limitConnections } from './limit-connections.ts'
export { createShares, type Shares } from './shares.ts'
