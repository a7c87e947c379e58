module example.org/foyer-client

go 1.25.0

require github.com/GIT_USER_ID/GIT_REPO_ID v0.0.0

// The generated client.
replace github.com/GIT_USER_ID/GIT_REPO_ID => ./client
