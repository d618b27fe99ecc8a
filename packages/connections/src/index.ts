export { type ConnectionLimits, type IdleConnections, limitConnections } from './limit-connections.ts'
