module example.org/foyer-client

go 1.25.0

require (
	github.com/labstack/echo/v4 v4.16.0
	github.com/oapi-codegen/runtime v1.8.0
)
