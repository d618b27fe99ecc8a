export { type CrashPoints, createCrashPoints, listCrashPoints, noCrashPoints, type PortCalls, type ProgramPorts } from './crash-points.ts'
export { CRASH_AT_VARIABLE, type CrashAt, type CrashMode, parseCrashAt } from './parse-crash-at.ts'
