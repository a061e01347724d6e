// Package jobs is River: the two kinds of job, their workers, and what an error means to the queue.
//
// A job says only "work on this base" or "deliver this message"; what is to be done stands in our tables, so a job may be lost,
// repeated or late without harm, and none is unique (R1). It must never carry anything that is not
// stored elsewhere, nor a secret. Apart from migrations, nobody else imports River. Only app may
// import this package.
package jobs
