export { type Failpoints, createFailpoints, listFailpoints, noFailpoints, type PortCalls, type ProgramPorts } from './failpoints.ts'
export { FAILPOINT_VARIABLE, type ArmedFailpoint, type FailpointMode, parseFailpoint } from './parse-failpoint.ts'
